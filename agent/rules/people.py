"""What people want of a run while it lives: values in, events out.

No events: it is so already. Who may want it is for whoever asks; only an approval says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.errors import (
    ApprovalCancelled,
    KeyReused,
    NotAllowed,
    NotFound,
    NothingToDo,
    RunEnded,
    StillOpen,
)
from agent.rules.decisions import Decider, must_not_be_over, why_not
from agent.rules.events import Event
from agent.rules.fold_messages import unheard, unheard_quote
from agent.rules.given import BY_CORE, fitting_files, fitting_quote, fitting_quotes
from agent.rules.ids import ApprovalId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.parts import GivenFile, Quoted
from agent.rules.state import Approval, RunState
from agent.rules.steps import has_begun
from agent.rules.waiting import is_waited_for
from agent.rules.words import MESSAGE_LIMIT, WORDS_LIMIT, must_fit


def say(
    state: RunState,
    by: Principal,
    text: str,
    ref: str | None = None,
    *,
    quoted: Sequence[Quoted] = (),
    files: Sequence[GivenFile] = (),
    as_of: datetime | None = None,
) -> tuple[Event, ...]:
    """A message to the run, as it reads ``as_of`` its newest edit, or at first; the same ``ref`` again is the same
    message. Of what comes with it, as much as fits. Raises ``RunEnded``, ``NothingToDo`` for nothing but blanks,
    ``TooLong``, and ``KeyReused`` for a ``ref`` that stands for other words. What others said is quoted once, whoever
    quotes it."""
    if ref is not None and has_heard(state, text, ref):
        return ()
    _must_live(state)
    if not text.strip():
        raise NothingToDo
    must_fit(text, MESSAGE_LIMIT)
    said = MessageReceived(
        by=by,
        text=text,
        ref=ref,
        quoted=fitting_quotes(_not_told(state, quoted)),
        files=fitting_files(files),
        was_quoted=ref is not None and unheard_quote(state, ref) is not None,
        as_of=as_of,
    )
    return (said,)


def _not_told(state: RunState, quoted: Sequence[Quoted]) -> Iterator[Quoted]:
    """Two messages that are read at once come with the same that was said before, and one with the other."""
    told = {state.ref, *state.deleted, *(one.ref for one in state.said)}
    for words in (state.request, *(one.words for one in state.said)):
        told |= {one.ref for one in words.quoted}
    # What says that something is missing stands where that is.
    return (one for one in quoted if one.ref not in told - {None} or one.by == BY_CORE)


def edit(
    state: RunState, by: Principal, ref: str, text: str, as_of: datetime | None = None
) -> tuple[Event, ...]:
    """Their message at ``ref`` reads otherwise from now on, said to the run or quoted to it. ``as_of``: when they
    edited it; no events where that was before the edit that stands there. One of which that is not known (None) holds
    as it comes. No events also where it can't be changed any more: see ``may_change``. Raises ``NothingToDo`` for
    nothing but blanks, ``TooLong``."""
    there = unheard(state, ref)
    stands = there or unheard_quote(state, ref)
    if stands is None or not may_change(state, by, ref) or is_overtaken(state, ref, as_of):
        return ()
    if there is None:
        text = fitting_quote(text)
    # Edited back, it says the same again: what it said in between may be still to come.
    if text == stands.text and as_of in (None, stands.as_of):
        return ()
    if not text.strip():
        raise NothingToDo
    must_fit(text, MESSAGE_LIMIT)
    return (MessageEdited(ref=ref, text=text, by=by, as_of=as_of),)


def delete(state: RunState, by: Principal, ref: str) -> tuple[Event, ...]:
    """Their message at ``ref`` was never said. Where nothing is left of all that was said to the run, one that lives
    is stopped. No events also where it can't be changed any more: see ``may_change``."""
    if not may_change(state, by, ref):
        return ()
    taken_back = MessageDeleted(ref=ref, by=by)
    if unheard(state, ref) is None:
        return (taken_back,)
    gone = {ref, *state.deleted}
    others = (one for one in state.said if one.ref not in gone)
    if state.ref not in gone or any(others) or state.stop is not None or state.is_ended:
        return (taken_back,)
    return (taken_back, *stop(state, by))


def may_change(state: RunState, by: Principal, ref: str) -> bool:
    """Is what stands at ``ref`` theirs, and has no reply of the model seen it as it is now? What a run has ended
    without having heard is told by the next one, or by itself where it is taken on again."""
    there = unheard(state, ref) or unheard_quote(state, ref)
    return there is not None and there.by == by


def is_overtaken(state: RunState, ref: str, as_of: datetime | None) -> bool:
    """Was an edit of ``as_of`` made before the one by which what is at ``ref`` reads as it does? Where two are of one
    moment, and where it is not known of both, it is not."""
    stands = unheard(state, ref) or unheard_quote(state, ref)
    # Whoever has heard it has heard the newer words.
    stands = stands or next((one for one in state.said if one.ref == ref), None)
    since = stands.as_of if stands else state.as_of if ref == state.ref else None
    return since is not None and as_of is not None and as_of < since


def knows(state: RunState, ref: str) -> bool:
    """Did the run begin with what stands at ``ref``, or was it told it, whatever became of that?"""
    return ref == state.ref or ref in state.deleted or any(one.ref == ref for one in state.said)


def has_heard(state: RunState, text: str, ref: str) -> bool:
    """Has the run been told what stands at ``ref``? Raises ``KeyReused`` if it was something else."""
    if not knows(state, ref):
        return False
    there = next((said.text for said in state.said if said.ref == ref), state.prompt)
    must_be_same(state, ref, there, text)
    return True


def must_be_same(state: RunState, ref: str, there: str, text: str) -> None:
    """Raises ``KeyReused`` where ``ref`` stands for other words than ``text``: swallowed, these were lost. What was
    edited or deleted since may be delivered once more as it was."""
    if there != text and ref not in state.edited | state.deleted:
        raise KeyReused(ref, state.run_id)


def hold(state: RunState, by: Principal, reason: str | None = None) -> tuple[Event, ...]:
    """Nothing new begins until it is resumed. Raises ``TooLong``, and ``RunEnded``, also for a run that is
    being stopped."""
    _must_live(state)
    return () if state.held else (RunHeld(by=by, reason=_words(reason)),)


def resume(state: RunState, by: Principal) -> tuple[Event, ...]:
    """A held run goes on. Raises ``RunEnded``."""
    _must_live(state)
    return (RunResumed(by=by),) if state.held else ()


def stop(state: RunState, by: Principal, reason: str | None = None) -> tuple[Event, ...]:
    """The run ends: at once, or, where something has begun, when that has been heard out. Raises
    ``RunEnded``, ``TooLong``."""
    if state.stop is not None and not state.is_ended:
        return ()
    _must_live(state)
    wanted = StopRequested(by=by, reason=_words(reason))
    return (wanted,) if has_begun(state) else (wanted, RunCancelled())


def ask_again(state: RunState, approval_id: ApprovalId, decider: Decider) -> tuple[Event, ...]:
    """What nobody decided in time is asked once more, by whoever might decide it or asked for the run.

    Raises ``NotFound``, ``RunEnded``, and as a decision does where it is not that: ``NotAllowed``,
    ``AlreadyDecided``, ``Superseded``, ``ApprovalCancelled``, ``StillOpen``."""
    approval = state.approvals.get(approval_id)
    if approval is None:
        raise NotFound("approval", approval_id)
    why = why_not(approval.approvers, state.requesters, decider)
    if why and decider.principal not in state.requesters:
        raise NotAllowed(approval_id, approval.approvers, why)
    _must_be_expired(approval)
    _must_live(state)
    if _is_settled_by_silence(state, approval):
        raise ApprovalCancelled(approval_id)
    if not is_waited_for(state, approval):
        return ()  # It is about to be asked again.
    return (ApprovalAskedAgain(approval_id=approval_id, by=decider.principal),)


def _is_settled_by_silence(state: RunState, approval: Approval) -> bool:
    """Where the rule says so, that nobody decided is the call's result."""
    call_id = approval.requested.call_id
    return call_id is not None and state.call(call_id).status == "ended"


def _must_be_expired(approval: Approval) -> None:
    must_not_be_over(approval)
    if approval.status == "pending":
        raise StillOpen(approval.id)
    if approval.status != "expired":
        raise ApprovalCancelled(approval.id)


def _must_live(state: RunState) -> None:
    if state.is_ended or state.stop is not None:
        raise RunEnded(state.run_id, state.ending or "being stopped")


def _words(text: str | None) -> str | None:
    if text is not None:
        must_fit(text, WORDS_LIMIT)
    return text.strip() or None if text else None
