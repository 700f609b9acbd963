"""What becomes of a message that is edited or deleted before the model has answered to it.

A request may be under way that held the message as it was; nobody can tell until its reply is there. The message
is changed at once, for every request that is still to be made. The reply to one that was made before is kept, and
what was changed counts as said after it: so its calls are not started, and the run does not end with it.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime

from agent.rules.fold_approvals import CantFollow
from agent.rules.given import BY_CORE
from agent.rules.interventions import MessageDeleted, MessageEdited
from agent.rules.parts import Quoted
from agent.rules.replacing import replace
from agent.rules.state import RunState, Said

#: What stands in the place of a message that was deleted, where something has to.
DELETED = "[The message that stood here was deleted: nothing of it is wanted any more.]"


def unheard(state: RunState, ref: str) -> Said | None:
    """The message at ``ref`` as it is now, also the one that the run began with, where no reply of the model
    was asked for with it; else None."""
    if ref in state.deleted:
        return None
    there = next((one for one in state.unseen if one.ref == ref and not one.is_guidance), None)
    if there is None and ref == state.ref and not state.replies:
        words = state.request
        return Said(
            1,
            state.started_at,
            state.requester,
            words.text,
            ref,
            words.quoted,
            words.files,
            as_of=state.as_of,
        )
    return there


def unheard_quote(state: RunState, ref: str) -> Quoted | None:
    """What somebody said at ``ref``, as it is quoted to the model, where no reply was asked for with that."""
    words = [one.words for one in state.unseen]
    if not state.replies:
        words.append(state.request)
    quoted = (quote for one in words for quote in one.quoted)
    return next((one for one in quoted if one.ref == ref and one.by != BY_CORE), None)


def rewrite(state: RunState, event: MessageEdited | MessageDeleted, at: datetime) -> RunState:
    """Raises ``CantFollow`` where no such message is unheard, and none is quoted to who has not heard it."""
    there = unheard(state, event.ref)
    if there is None and unheard_quote(state, event.ref) is None:
        raise CantFollow(f"no message that could still be changed is at {event.ref}")
    if there is not None:
        state = _rewritten(state, event, there, at)
    edited = event if isinstance(event, MessageEdited) else None
    return _quoted_otherwise(state, event.ref, edited)


def told(state: RunState, said: Said) -> RunState:
    """It is said to the run by now: who has not heard it as what others said hears it as an instruction alone."""
    if said.ref is not None:
        state = _quoted_otherwise(state, said.ref, None)
    return replace(state, said=(*state.said, said))


def _quoted_otherwise(state: RunState, ref: str, edited: MessageEdited | None) -> RunState:
    """What stands at ``ref`` is quoted as it was edited to, or for None not at all.

    It is context: a reply that is under way with what it was is as good as one with what it is."""
    unseen = {one.seq for one in state.unseen}
    said = tuple(
        dataclasses.replace(one, quoted=_changed(one.quoted, ref, edited))
        if one.seq in unseen
        else one
        for one in state.said
    )
    if said != state.said:
        state = replace(state, said=said)
    quoted = state.quoted if state.replies else _changed(state.quoted, ref, edited)
    return state if quoted == state.quoted else replace(state, quoted=quoted)


def _changed(
    quoted: tuple[Quoted, ...], ref: str, edited: MessageEdited | None
) -> tuple[Quoted, ...]:
    if edited is None:
        return tuple(one for one in quoted if one.ref != ref or one.by == BY_CORE)
    return tuple(
        one.model_copy(update={"text": edited.text, "as_of": edited.as_of or one.as_of})
        if one.ref == ref and one.by != BY_CORE
        else one
        for one in quoted
    )


def _rewritten(
    state: RunState, event: MessageEdited | MessageDeleted, there: Said, at: datetime
) -> RunState:
    text = event.text if isinstance(event, MessageEdited) else DELETED
    now = dataclasses.replace(there, text=text, at=at, changed=state.seq + 1)
    if isinstance(event, MessageEdited):
        now = dataclasses.replace(now, as_of=event.as_of or there.as_of)
        state = replace(state, edited=state.edited | {event.ref})
    else:
        now = dataclasses.replace(now, quoted=(), files=())
        state = replace(state, deleted=state.deleted | {event.ref})
    if not any(one.ref == event.ref for one in state.unseen):
        return _began_with(state, now)
    if isinstance(event, MessageEdited):
        said = tuple(now if one is there else one for one in state.said)
        return replace(state, said=said)
    if state.replies and there.seq <= state.replies[-1].asked_at:
        # The last reply was to the message as it had been before.
        state = replace(state, said=tuple(now if one is there else one for one in state.said))
        # What the run began with also stands at its beginning, as nobody has seen it.
        return _began_with_nothing(state) if event.ref == state.ref else state
    said = tuple(one for one in state.said if one is not there)
    return replace(state, said=said, rewritten=(*state.rewritten, now))


def _began_with_nothing(state: RunState) -> RunState:
    return replace(state, prompt=DELETED, quoted=(), files=())


def _began_with(state: RunState, now: Said) -> RunState:
    others = tuple(one for one in state.rewritten if one.ref != now.ref)
    return replace(
        state,
        prompt=now.text,
        quoted=now.quoted,
        files=now.files,
        as_of=now.as_of,
        # What came with it is told at the beginning, and not twice.
        rewritten=(*others, dataclasses.replace(now, quoted=(), files=())),
    )
