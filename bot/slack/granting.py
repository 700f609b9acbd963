"""The grants that hold: which of them a person sees, and may take back.

Taking one back only means that people are asked again. So whoever sees one may: who gave it, who might have
given it in their stead, the owners, and whoever asked for the run that it is for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import AlreadyRevoked, NotFound, StoreError, StoreUnavailable
from agent.granting import requester_of
from agent.rules.ids import GrantId
from agent.rules.rule import People as Named
from agent.rules.standing import Grant
from agent.rules.taking_back import may_take_back
from bot.slack.answering import Answer
from bot.slack.cards.blocks import section
from bot.slack.cards.grants import grants_blocks, grants_text, revoked_text
from bot.slack.cards.refusals import store_unavailable_text
from bot.slack.cards.text import quoted
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services

_STORE_IS_AWAY = "Our store can't be read right now. Please try again in a minute."
_GONE = "Nothing was done: this grant holds no more, or is none that you can see. ({grant})"
_SAVING = "Still revoking it. You'll be told here. ({grant})"


async def grants(services: Services, actor: Actor) -> Answer:
    """Those that hold and that this person may see, each with its Revoke."""
    try:
        theirs = [grant async for grant in _theirs(services, actor)]
    except NotEligible as error:
        return Answer(text=f"{error.why[:1].upper()}{error.why[1:]}.")
    except StoreError:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(text=grants_text(theirs), blocks=grants_blocks(theirs))


async def revoke_by_click(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Take it back; the list shows what is left. Raises ``BadPayload``."""
    click = Click.parse(body)
    grant_id = click.grant_id
    person = Clicker(services, ack, click, _SAVING.format(grant=quoted(grant_id, 90)))
    await services.answering.answer(person, _revoke(services, grant_id, click.actor), grant_id)


async def _revoke(services: Services, grant_id: GrantId, actor: Actor) -> Answer:
    try:
        theirs = [grant async for grant in _theirs(services, actor)]
        if grant_id not in {grant.id for grant in theirs}:
            return Answer(text=_GONE.format(grant=quoted(grant_id, 90)))
        member = await services.people.member(actor.user, actor.team)
        was = await services.runtime.revoke(grant_id, member.principal)
    except NotEligible as error:
        return Answer(text=f"Nothing was done: {error.why}.")
    except (AlreadyRevoked, NotFound):
        return Answer(text=_GONE.format(grant=quoted(grant_id, 90)))
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(what="revoked"))
    except StoreError:
        return Answer(text=_STORE_IS_AWAY)
    told, left = revoked_text(was), [grant for grant in theirs if grant.id != grant_id]
    return Answer(text=told, blocks=(section(told), *grants_blocks(left)), is_in_place=True)


async def _theirs(services: Services, actor: Actor) -> AsyncIterator[Grant]:
    """Oldest first. Raises ``NotEligible``, ``StoreError``."""
    holding = await services.runtime.grants()
    groups = {
        group for one in holding for group in (*one.given.groups, *_owners(services, one).groups)
    }
    # A group that can't be looked up is one that they are not in.
    decider = (await services.people.look_up(actor.user, actor.team, groups=groups)).decider
    for grant in holding:
        requester = await requester_of(services.runtime.store, grant)
        if may_take_back(grant.given, _owners(services, grant), requester, decider):
            yield grant


def _owners(services: Services, grant: Grant) -> Named:
    agent = services.runtime.agents.get(grant.given.agent)
    return agent.policy.owners if agent else Named()
