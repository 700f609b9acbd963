"""What a person may look at from anywhere: what waits for them, and their own runs.

Other people's runs may come from conversations that this person can't see, so they are not listed.
"""

from __future__ import annotations

from agent.errors import NotFound, StoreError
from agent.rules.decisions import why_not
from agent.rules.ids import ApprovalId, RunId
from agent.rules.state import RunState
from bot.slack.answering import Answer
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.text import quoted
from bot.slack.ids import Address
from bot.slack.payloads import Actor
from bot.slack.people import NotEligible
from bot.slack.services import Services

_SHOWN = 10
_LOOKED_THROUGH = 50
_NOTHING_WAITS = "Nothing waits for you. To start something: `/agent help`."
_NO_RUNS = "You have no runs. To start one: `/agent help`."
_NOT_YOURS = "There is no run of yours with this id. `/agent runs` lists yours."
_STORE_IS_AWAY = "Our store can't be read right now. Please try again in a minute."
_ENDINGS = {"finished": "done", "failed": "failed", "cancelled": "stopped"}


async def pending(services: Services, actor: Actor) -> Answer:
    """The open questions that this person may decide, oldest first."""
    try:
        asked = await services.runtime.approvals(limit=_LOOKED_THROUGH)
        groups = {group for one, _ in asked for group in one.requested.approvers.groups}
        decider = await services.people.decider(actor.user, actor.team, groups=sorted(groups))
        lines = [
            f"• *{quoted(one.requested.title or one.requested.tool, 80)}*, asked for by "
            f"{name_principal(state.requester)} {when(one.requested_at)}"
            f"{await _link(services, state.run_id, one.id)} · {one.id}"
            for one, state in asked
            if why_not(one.requested.approvers, state.requester, decider) is None
        ]
    except NotEligible as error:
        return Answer(text=f"{error.why}.".capitalize())
    except StoreError:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(text=_listed("Waiting for you:", lines, _NOTHING_WAITS))


async def runs(services: Services, actor: Actor) -> Answer:
    """This person's own runs, newest first."""
    try:
        states = await _own_runs(services, actor)
    except NotEligible as error:
        return Answer(text=f"{error.why}.".capitalize())
    except StoreError:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(text=_listed("Your runs:", [_line(state) for state in states], _NO_RUNS))


async def status(services: Services, actor: Actor, run_id: RunId | None) -> Answer:
    """One run of theirs; without an id the newest."""
    try:
        member = await services.people.member(actor.user, actor.team)
        if run_id is None:
            own = await _own_runs(services, actor)
            return Answer(text=_line(own[0]) if own else _NO_RUNS)
        state = await services.runtime.state(run_id)
    except NotEligible as error:
        return Answer(text=f"{error.why}.".capitalize())
    except NotFound:
        return Answer(text=_NOT_YOURS)
    except StoreError:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(text=_line(state) if state.requester == member.principal else _NOT_YOURS)


async def _own_runs(services: Services, actor: Actor) -> list[RunState]:
    member = await services.people.member(actor.user, actor.team)
    states = await services.runtime.runs(limit=_LOOKED_THROUGH)
    return [state for state in states if state.requester == member.principal]


async def _link(services: Services, run_id: RunId, approval_id: ApprovalId) -> str:
    """Where the question stands in Slack, once it has been posted."""
    url = (await services.people.home()).url
    for key, message in (await services.runtime.store.threads.messages(run_id)).items():
        if approval_id in key.split(":") and message.address and url:
            address = Address.of(message.address)
            link = f"{url}archives/{address.channel}/p{address.ts.replace('.', '')}"
            return f" · <{link}|look at it>"
    return ""


def _listed(heading: str, lines: list[str], otherwise: str) -> str:
    if not lines:
        return otherwise
    more = len(lines) - _SHOWN
    rest = [f"… and {more} more"] if more > 0 else []
    return "\n".join([f"*{heading}*", *lines[:_SHOWN], *rest])


def _line(state: RunState) -> str:
    waits = "waits for a decision" if state.open_approvals else "at work"
    word = _ENDINGS.get(state.ending or "", waits)
    return f"• {quoted(state.prompt, 80)}: *{word}* · started {when(state.started_at)} · {state.run_id}"
