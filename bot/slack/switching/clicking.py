"""The kill switch of the Home tab: its buttons, and the form."""

from __future__ import annotations

from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import StoreError
from agent.errors.switches import MAY_NOT_SWITCH
from bot.slack.answering import Answer
from bot.slack.cards.modals import View, read_words
from bot.slack.cards.switches import SWITCH_TITLE, chosen_switch, switch_modal
from bot.slack.ids import REASON_BLOCK, SWITCH_BLOCK
from bot.slack.looking import STORE_IS_AWAY
from bot.slack.opening import open_when_drawn
from bot.slack.payloads import Actor, Click, Submission
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker, Submitter
from bot.slack.services import Services
from bot.slack.switching.standing import switches_of
from bot.slack.switching.turning import turn
from bot.slack.words import TurnSwitch

_SAVING: Final = "Still saving it. You'll be told."


async def off_by_click(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Raises ``BadPayload``."""
    click = Click.parse(body)
    wish = TurnSwitch(is_on=False, named=click.value, reason="")
    person = Clicker(services, ack, click, _SAVING)
    await services.answering.answer(person, turn(services, click.actor, wish), "a kill switch")


async def open_form(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """The form in which one is turned on. Raises ``BadPayload``."""
    click = Click.parse(body)
    person = Clicker(services, ack, click, _SAVING)
    opening = open_when_drawn(
        services, click, _form(services, click.actor), button="Switch off", undone="switched"
    )
    await services.answering.answer(person, opening, "a kill switch")


async def _form(services: Services, actor: Actor) -> View | str:
    try:
        if await switches_of(services, actor) is None:
            return MAY_NOT_SWITCH
    except NotEligible as error:
        return f"Nothing was switched: {error.why}."
    except StoreError:
        return STORE_IS_AWAY
    agents = services.runtime.agents
    tools = {spec.name for agent in agents.values() for spec in agent.toolbox.specs}
    return switch_modal(agents, tools)


async def on_by_form(services: Services, ack: AsyncAck, submission: Submission) -> None:
    """The form, sent off."""
    person = Submitter(services, ack, submission, SWITCH_TITLE, _SAVING)
    await services.answering.answer(person, _sent_off(services, submission), "a kill switch")


async def _sent_off(services: Services, submission: Submission) -> Answer:
    named, reason = chosen_switch(submission.values), read_words(submission.values, REASON_BLOCK)
    if not named:
        return Answer(errors={SWITCH_BLOCK: "Say what."})
    if not reason:
        return Answer(errors={REASON_BLOCK: "Say why."})
    return await turn(services, submission.actor, TurnSwitch(True, named, reason))
