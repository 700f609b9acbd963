"""What a person may look at from anywhere: what waits for them, and their own runs.

Other people's runs may come from conversations that this person can't see, so they are not listed.
"""

from __future__ import annotations

from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.rules.dry_run import is_of_a_dry_run
from agent.rules.ids import RunId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.arguments import describe_arguments, summarize
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.question import question_of
from bot.slack.cards.said_since import said_since_text
from bot.slack.cards.status import how_far_in_words, what_it_waits_for
from bot.slack.cards.text import quoted
from bot.slack.cards.votes import votes_in_words
from bot.slack.links import Seen, seen_by
from bot.slack.looking import looked
from bot.slack.payloads import Actor
from bot.slack.services import Services
from bot.slack.waiting import what_waits

_SHOWN = 10
#: Of what waits, as many more as fit: nobody is to be kept from deciding it.
_WAITING_SHOWN = 40
_TEXT_LIMIT = 10_000
_NOTHING_WAITS = "Nothing waits for you. To start something: `/agent help`."
_NO_RUNS = "You have no runs. To start one: `/agent help`."
_NOT_YOURS = "There is no run of yours with this id. `/agent runs` lists yours."
_HOW_TO_DECIDE = (
    "Where you can't see the question, decide with one whole message: a mention of me and `approve apr_…` or"
    " `deny apr_… reason`."
)
_ASK_AGAIN = " · nobody decided in time: *Ask again* on its card"
_RUNS_UNREADABLE = "{count} of your runs can't be read by the version that runs now."
_RUN_UNREADABLE = "This run can't be read by the version that runs now. ({run})"


async def pending(services: Services, actor: Actor) -> Answer:
    """The open questions that this person may decide, and what nobody decided in time and they can have
    asked again, oldest first."""
    return await looked(_pending(services, actor))


async def runs(services: Services, actor: Actor) -> Answer:
    """This person's own runs, newest first."""
    return await looked(_runs(services, actor))


async def status(services: Services, actor: Actor, run_id: RunId | None) -> Answer:
    """One run of theirs; without an id the newest."""
    return await looked(_status(services, actor, run_id))


async def _pending(services: Services, actor: Actor) -> Answer:
    waiting = await what_waits(services, actor, limit=_WAITING_SHOWN)
    lines = _fitting([await _asked(services, *one, actor.user) for one in waiting.asked])
    more = len(waiting.asked) - len(lines) + waiting.more
    lines += [f"… and {more} more, which come up here as these are decided"] if more else []
    notes = waiting.why_not_all
    can_decide = any(
        one.status == "pending" and one.kind in ("call", "budget") for one, _ in waiting.asked
    )
    notes += [_HOW_TO_DECIDE] if can_decide else []
    return Answer(text=_listed("Waiting for you:", lines, notes) or _NOTHING_WAITS)


async def _runs(services: Services, actor: Actor) -> Answer:
    member = await services.people.member(actor.user, actor.team)
    limit, requester = _SHOWN + 1, member.principal
    rows = await services.runtime.store.lists.runs(limit=limit, requester=requester)
    own = await services.runtime.runs(limit=limit, requester=requester)
    names_agent = len(services.runtime.agents) > 1
    shown = map(services.shown, own[:_SHOWN])
    lines = [_line(state, names_agent=names_agent) for state in shown]
    lines += ["… and older ones"] if len(rows) > _SHOWN else []
    unreadable = len(rows) - len(own)
    notes = [_RUNS_UNREADABLE.format(count=unreadable)] if unreadable > 0 else []
    return Answer(text=_listed("Your runs:", lines, notes) or _NO_RUNS)


async def _status(services: Services, actor: Actor, run_id: RunId | None) -> Answer:
    member = await services.people.member(actor.user, actor.team)
    if run_id is None:
        newest = await services.runtime.store.lists.runs(limit=1, requester=member.principal)
        if not newest:
            return Answer(text=_NO_RUNS)
        run_id = newest[0].run_id
    try:
        state = await services.runtime.state(run_id)
    except NotFound:
        return Answer(text=_NOT_YOURS)
    except (CorruptJournal, UnknownEvent):
        return Answer(text=_RUN_UNREADABLE.format(run=run_id))
    if state.requester != member.principal:
        return Answer(text=_NOT_YOURS)
    names_agent = len(services.runtime.agents) > 1
    return Answer(text=_line(services.shown(state), names_agent=names_agent))


def _fitting(lines: list[str]) -> list[str]:
    """The first of them, as many as one answer holds."""
    left = _TEXT_LIMIT
    for number, line in enumerate(lines):
        left -= len(line)
        if left < 0:
            return lines[:number]
    return lines


async def _asked(services: Services, asked: Approval, state: RunState, user: str) -> str:
    """What waits; below it that something was said since, as it can be decided from here."""
    seen, state = await seen_by(services, state, asked.id, user), services.shown(state)
    asked = state.approvals[asked.id]
    said = said_since_text([asked], state, seen.words_at, with_words=False)
    return "\n".join(filter(None, (_question(asked, state, seen), said)))


def _question(asked: Approval, state: RunState, seen: Seen) -> str:
    link = f" · {DRY_RUN_IN_PLAIN}" if is_of_a_dry_run(asked, state) else ""
    link += _link(seen)
    link += "" if asked.status == "pending" else _ASK_AGAIN
    who = name_principal(state.requester)
    if asked.kind == "question":
        return (
            f"• *{who}'s run asks:* {quoted(question_of(asked), 240)} · "
            f"{when(asked.requested_at)}{link} · {asked.id}"
        )
    if asked.kind == "budget":
        return (
            f"• *Go on?* {quoted(asked.requested.reason, 240)} · {who}'s run · "
            f"{when(asked.requested_at)}{link} · {asked.id}"
        )
    call = state.call(asked.requested.of_call)
    values = summarize(describe_arguments(asked.requested.args, call.parameters))
    votes = f" · {votes_in_words(asked, state)}" if asked.votes else ""
    what = quoted(asked.requested.title or asked.requested.tool, 80)
    # A review is no yes or no: its id decides nothing in a message.
    is_review = asked.kind == "review"
    return (
        f"• *{f'Did this happen? {what}' if is_review else what}*"
        f"{f': {quoted(values, 240)}' if values else ''}{votes} · asked for by "
        f"{who} {when(asked.requested_at)}{link}"
        f"{' · to be said on its card' if is_review else f' · {asked.id}'}"
    )


def _link(seen: Seen) -> str:
    """Where this person can look at it; in a direct message nobody else can."""
    if seen.url is not None:
        return f" · <{seen.url}|look at it>"
    return " · in a direct message" if seen.is_directly else ""


def _listed(heading: str, lines: list[str], notes: list[str]) -> str:
    """Empty where there is nothing to say."""
    return "\n".join([*([f"*{heading}*"] if lines else []), *lines, *notes])


def _line(state: RunState, *, names_agent: bool) -> str:
    words = how_far_in_words(state) or what_it_waits_for(state) or "at work"
    how = f"{words[:1].lower()}{words[1:]}"
    who = f" · {quoted(state.agent, 40)}" if names_agent else ""
    who += f" · {DRY_RUN_IN_PLAIN}" if state.is_dry_run else ""
    since = f"started {when(state.started_at)}"
    return f"• {quoted(state.prompt, 80)}: *{how}*{who} · {since} · {state.run_id}"
