"""Kill switches in Slack: the owners turn them by ``/agent kill-switch``, and every full member sees how they stand."""

from __future__ import annotations

from typing import Final

from agent.errors import (
    AlreadySwitched,
    CommitInDoubt,
    MayNotSwitch,
    NoSuchSwitch,
    StoreError,
    StoreUnavailable,
)
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.switches import in_words, may_switch
from bot.slack.answering import Answer
from bot.slack.cards.mentions import name_choice, name_principal, when
from bot.slack.cards.refusals import store_unavailable_text
from bot.slack.cards.switches import as_typed, switch_words
from bot.slack.cards.text import quoted
from bot.slack.looking import STORE_IS_AWAY, looked
from bot.slack.payloads import Actor
from bot.slack.people import CouldNotLookUp, NotEligible, not_told
from bot.slack.services import Services
from bot.slack.words import TurnSwitch

_NAME_LIMIT: Final = 80
HOW: Final = (
    "`/agent kill-switch on all REASON`, or `on agent NAME REASON`, or `on tool NAME REASON`; `/agent kill-switch off"
    " NAME` lets it go on; `/agent kill-switch status` shows what is switched off."
)
HOW_TO_SWITCH: Final = f"Nothing was switched. {HOW}"
_WHAT: Final = f"Nothing was switched: say what. {HOW}"
_WHY: Final = f"Nothing was switched: say why, people see it on the runs that are held. {HOW}"
_NONE_ON: Final = "No kill switch is on."
_WHICH: Final = "Nothing was switched: several are on, so say which.\n{}"


async def status(services: Services, actor: Actor) -> Answer:
    """Which are on; and which freeze windows are open."""
    return await looked(_status(services, actor))


async def _status(services: Services, actor: Actor) -> Answer:
    await services.people.member(actor.user, actor.team)
    told = [switch_words(one) for one in await services.runtime.switching.on()]
    now = services.runtime.store.clock.now()
    windows = {
        window.in_words: window
        for agent in services.runtime.agents.values()
        for window in agent.policy.freeze
    }
    for window in windows.values():
        until = window.ends_at(now)
        if until is not None:
            ends = quoted(window.end_in_words(until), _NAME_LIMIT)
            told.append(f"❄ Frozen until {ends}: {as_typed(window.tools)}")
    return Answer(text="\n".join(told) if told else _NONE_ON)


async def turn(services: Services, actor: Actor, wish: TurnSwitch) -> Answer:
    """One of the owners turns it; whoever else is told who they are."""
    try:
        # Before anything is said of what there is: it is not for guests, or for people of elsewhere.
        await services.people.member(actor.user, actor.team)
        switch = await _meant(services, wish)
        if wish.is_on and not wish.reason:
            return Answer(text=_WHY)
        decider = await _decider(services, actor, switch)
        await services.runtime.switching.turn(switch, decider, wish.reason, is_on=wish.is_on)
    except NoSuchSwitch as error:
        return Answer(text=f"Nothing was switched: {quoted(error.why, 600)}")
    except _NotSaid as error:
        return Answer(text=error.text)
    except AlreadySwitched as error:
        return Answer(text=_already(error))
    except MayNotSwitch as error:
        return Answer(
            text=f"Nothing was switched: only {_who_may(services, error.switch)} can turn a kill switch."
        )
    except NotEligible as error:
        return Answer(text=f"Nothing was switched: {error.why}.")
    except CommitInDoubt:
        raise
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(what="switched"))
    except StoreError:
        return Answer(text=STORE_IS_AWAY)
    what = quoted(in_words(switch), _NAME_LIMIT)
    if wish.is_on:
        return Answer(
            text=f"⏸ The kill switch is on for *{what}*: nothing of it starts from now on. What runs now finishes; runs"
            f" hold, and lose nothing. To let it go on, `/agent kill-switch off` and its name: {as_typed(switch)}"
        )
    return Answer(text=f"▶︎ The kill switch is off for *{what}*: the runs that it held go on.")


def _already(error: AlreadySwitched) -> str:
    how = "on" if error.is_on else "off"
    since = ""
    if error.by is not None and error.at is not None:
        since = f" since {when(error.at)}, by {name_principal(Principal(error.by))}"
    return f"Nothing was switched: the kill switch for *{quoted(error.switch, _NAME_LIMIT)}* is {how}{since}."


class _NotSaid(Exception):
    """What to turn was not said well enough."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


async def _meant(services: Services, wish: TurnSwitch) -> str:
    """Raises ``NoSuchSwitch``, ``_NotSaid``, ``StoreError``."""
    switching = services.runtime.switching
    if wish.is_on:
        if not wish.named:
            raise _NotSaid(_WHAT)
        return switching.named(wish.named)
    # What is on may be of an agent or a tool that is not here any more.
    on = await switching.on()
    if wish.named:
        known = next((one.name for one in on if one.name == wish.named), None)
        return known or switching.named(wish.named)
    if not on:
        raise _NotSaid(_NONE_ON)
    if len(on) > 1:
        raise _NotSaid(_WHICH.format("\n".join(map(switch_words, on))))
    return on[0].name


async def _decider(services: Services, actor: Actor, switch: str) -> Decider:
    """Whoever it is, with those of the owners' groups that they are in. Raises ``NotEligible``; ``CouldNotLookUp``
    too where Slack does not say whether they are one of the owners."""
    owners = services.runtime.switching.owners(switch)
    found = await services.people.look_up(actor.user, actor.team, groups=owners.groups)
    if found.unknown and not may_switch(owners, found.decider):
        error = next(iter(found.unknown.values()))
        raise CouldNotLookUp(actor.user, not_told("who may turn a kill switch", error)) from error
    return found.decider


def _who_may(services: Services, switch: str) -> str:
    owners = services.runtime.switching.owners(switch)
    if owners.is_nobody:
        return "the operator"
    return name_choice(Approvers(users=owners.users, groups=owners.groups))
