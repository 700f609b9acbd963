"""Taint: which words of whom nobody vouches for a run's model had read before it proposed a call.

What a server's tools gave, files, what others than the requester say, and what a tool gave that says so of itself:
whoever wrote that may have meant the model to do something. It is known from the facts alone, for each says whose words
it holds. What once entered stays, for a model's later words can be made of it, a summary's too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from agent.rules.events import ApprovalDecided, CallReturned, Event, RunStarted
from agent.rules.given import BY_CORE
from agent.rules.ids import Principal
from agent.rules.interventions import HistoryTaken, MessageReceived, SessionContinued
from agent.rules.listing import join_words
from agent.rules.parts import GivenFile, Quoted, Taint
from agent.rules.state import RunState
from agent.rules.tool_globs import DOT

#: So many different ones are kept: the first say enough.
TAINTS_LIMIT = 20


def taints_at_start(event: RunStarted) -> tuple[Taint, ...]:
    """What came with the words that a run began with."""
    return joined((), _came_with(event.requester, event.quoted, event.files, (event.requester,)))


def taints_after(state: RunState, event: Event) -> tuple[Taint, ...]:
    """All that have entered the run by then. Raises ``KeyError`` for a call that was never proposed."""
    if isinstance(event, ApprovalDecided) and event.guidance is not None:
        return _without_guidance(state, event.ref)
    entering = tuple(_entering(state, event))
    return joined(state.taints, entering) if entering else state.taints


def _without_guidance(state: RunState, ref: str | None) -> tuple[Taint, ...]:
    """The model never hears the message at ``ref`` as one: it was unheard, and is told as what somebody who may decide
    wants. It taints nothing, unless its author said something else that is as yet unheard."""
    used = next((one for one in state.unheard if ref is not None and one.ref == ref), None)
    if used is None:
        return state.taints
    others = [one for one in state.unheard if one is not used and not one.is_guidance]
    authors = {one.by for one in others}
    authors |= {quote.by for one in state.unheard for quote in one.quoted}
    if not state.replies:
        authors |= {quote.by for quote in state.quoted}
    if used.by in authors:
        return state.taints
    untold = (one for one in state.taints[state.taints_told :] if one != _message(used.by))
    return (*state.tainted_by, *untold)


def to_hand_on(ended: RunState) -> tuple[Taint, ...]:
    """What the next run of the conversation is told is tainted by, unless these are its requester's own words."""
    return joined(ended.taints, [_message(ended.requester)])


def joined(before: Sequence[Taint], news: Iterable[Taint]) -> tuple[Taint, ...]:
    """Each once, the oldest first, and no more than are kept."""
    return tuple(dict.fromkeys((*before, *news)))[:TAINTS_LIMIT]


def taints_in_words(
    taints: Sequence[Taint],
    name: Callable[[Principal], str] = str,
    quote: Callable[[str], str] = str,
) -> str:
    """What it is that was read, the first of them by name; "" for nothing. ``name`` says who somebody is, ``quote``
    what others have called something."""
    told = [_in_words(one, name, quote) for one in taints[:_TOLD]]
    if more := len(taints) - len(told):
        told.append(f"{more} more")
    return join_words(told or [""])


_TOLD = 3


def _in_words(taint: Taint, name: Callable[[Principal], str], quote: Callable[[str], str]) -> str:
    by = "somebody" if taint.by is None else name(taint.by)
    match taint.source:
        case "tool":
            return f"the output of {quote(taint.name)}"
        case "file":
            return f"the file {quote(taint.name)} from {by}"
        case "message":
            return f"a message by {by}"
        case "past":
            return "earlier runs of this conversation"


def _entering(state: RunState, event: Event) -> Iterator[Taint]:
    match event:
        case MessageReceived(by=by, quoted=quoted, files=files):
            if _is_others(by, state.requesters):
                yield _message(by)
            yield from _came_with(by, quoted, files, state.requesters)
        case CallReturned(call_id=call_id, untrusted=untrusted):
            tool = state.call(call_id).tool
            # A journal of before does not say: then it is as with a server of which nobody says that it is trusted.
            if DOT in tool if untrusted is None else untrusted:
                yield Taint(source="tool", name=tool)
        case ApprovalDecided(action="answer", by=by):
            if _is_others(by, state.requesters):
                yield _message(by)
        case SessionContinued():
            yield from _of_the_past(event, state.requesters)
        case HistoryTaken():
            yield from _of_history(event, state.requesters)
        case _:
            pass


def _came_with(
    by: Principal,
    quoted: Iterable[Quoted],
    files: Iterable[GivenFile],
    requesters: Collection[Principal],
) -> Iterator[Taint]:
    yield from (_message(one.by) for one in quoted if _is_others(one.by, requesters))
    # Also one that was not read: its name is somebody's words.
    yield from (Taint(source="file", name=file.name, by=by) for file in files)


def _of_the_past(event: SessionContinued, requesters: Collection[Principal]) -> Iterator[Taint]:
    if event.taints is not None:
        yield from (one for one in event.taints if not _is_by(one, requesters))
    elif event.turns or event.summary or event.left_out:
        yield Taint(source="past")


def _of_history(event: HistoryTaken, requesters: Collection[Principal]) -> Iterator[Taint]:
    """A journal of before does not say: as far as what it holds tells."""
    if event.taints is not None:
        yield from event.taints
        return
    if event.summary is not None:
        yield Taint(source="past")
    for turn in event.turns:
        for words in turn.words:
            yield from (_message(one.by) for one in words.quoted if _is_others(one.by, requesters))
            yield from (Taint(source="file", name=file.name) for file in words.files)
        for call in turn.calls:
            if DOT in call.proposed.tool and call.outcome in ("ok", "error"):
                yield Taint(source="tool", name=call.proposed.tool)


def _message(by: Principal) -> Taint:
    return Taint(source="message", by=by)


def _is_by(taint: Taint, requesters: Collection[Principal]) -> bool:
    return taint.source == "message" and taint.by in requesters


def _is_others(by: Principal, requesters: Collection[Principal]) -> bool:
    """What the runtime itself puts there, such as that something is left out, is nobody's."""
    return by not in requesters and by != BY_CORE
