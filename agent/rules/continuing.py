"""A conversation that goes on: what a session's next run is told of the runs before it.

As much as is worth its price: the newest turns, each of a bounded size, so that a start costs the same however
long the conversation is. What its model never heard is said again, before what the next run begins with, unless people
stopped the run over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.rules.calls import Call
from agent.rules.events import Event
from agent.rules.interventions import MessageReceived, PastCall, PastTurn, SessionContinued
from agent.rules.json_text import dump_text
from agent.rules.parts import Summary
from agent.rules.quoting import remembered
from agent.rules.state import Reply, RunState, Said
from agent.rules.taint import to_hand_on
from agent.rules.transcript import is_error, words_on

#: The newest turns that are told: what lies further back is seldom meant, and each is paid for with each of the
#: next run's model requests.
TURNS_LIMIT = 40
#: All of them together, in characters: about a tenth of what models read at once.
SIZE_LIMIT = 80_000
#: A single word, argument or result is shortened to the first of these with which its turn has room.
PART_LIMITS = (4_000, 1_000, 200)


def go_on_from(ended: RunState, unreadable: int = 0) -> tuple[Event, ...]:
    """What stands behind the start of the next run in the session of ``ended``; ``unreadable`` runs came after
    that one."""
    before = ended.past
    if ended.summary is None:
        turns = [*(before.turns if before else ()), *_turns(ended)]
    else:
        turns = list(_turns(ended))[ended.summarised :]
    kept = _newest(turns)
    left_out = before.left_out if before and ended.summary is None else 0
    past = SessionContinued(
        of_run=ended.run_id,
        turns=kept,
        left_out=len(turns) - len(kept) + left_out,
        unreadable=unreadable + (before.unreadable if before else 0),
        summary=_summary(ended),
        taints=to_hand_on(ended),
    )
    # What came after it was told by whoever began that.
    unheard = _unheard(ended) if _is_handed_on(ended) and not unreadable else ()
    again = (one for one in unheard if one.ref not in ended.deleted and not one.is_guidance)
    return (past, *map(_said_again, again))


def _summary(ended: RunState) -> Summary | None:
    """The newest there is. Where it stands for turns of ``ended``, what that began with is no more told before them:
    it is one of the things that people had said by then."""
    if ended.summary is None:
        return ended.past.summary if ended.past else None
    if not ended.summarised:
        return ended.summary
    earlier = (remembered(one.words) for one in ended.said_earlier)
    said = (*earlier, remembered(ended.request), *ended.summary.said)
    return ended.summary.model_copy(update={"said": said})


def _said_again(said: Said) -> MessageReceived:
    return MessageReceived(
        by=said.by,
        text=said.text,
        ref=said.ref,
        quoted=said.quoted,
        files=said.files,
        is_handed_on=True,
        as_of=said.as_of,
    )


def _unheard(ended: RunState) -> tuple[Said, ...]:
    """But for what stands in the past before the words that its run began with, which nobody heard either: behind
    them, the older would pass for the newer."""
    return tuple(one for one in ended.unseen if one not in ended.said_earlier)


def _is_handed_on(ended: RunState) -> bool:
    """Does what its model never heard still hold? Whoever stopped the run did not want it to go on with that."""
    return ended.stop is None or ended.stop.is_a_rules


def _turns(ended: RunState) -> Iterator[PastTurn]:
    earlier = (remembered(one.words) for one in ended.said_earlier)
    said: tuple[str, ...] = (*earlier, remembered(ended.request))
    for reply in ended.replies:
        yield PastTurn(
            said=(*said, *map(remembered, reply.heard)), text=reply.text, calls=_calls(ended, reply)
        )
        said = ()
    note = _HOW_IT_ENDED.get(ended.ending or "", "")
    if (unheard := _unheard(ended)) and not _is_handed_on(ended):
        said = (*said, *(remembered(one.words) for one in unheard))
        note = f"{note} {_UNHEARD}"
    if said or note:
        yield PastTurn(said=said, note=note and f"[{note}]")


_HOW_IT_ENDED = {
    "cancelled": "This run was stopped before it had come to its end.",
    "failed": "This run failed before it had come to its end.",
}
_UNHEARD = "What was said last had not been heard by then, and nothing was done about it."


def _calls(ended: RunState, reply: Reply) -> tuple[PastCall, ...]:
    return tuple(
        PastCall(
            proposed=call.proposed,
            told=_told(ended, call),
            is_error=call.result is None or is_error(call.result),
        )
        for call in ended.calls_of(reply)
    )


def _told(ended: RunState, call: Call) -> str:
    if call.result is not None:
        return words_on(ended, call, call.result)
    if call.may_have_happened:
        return _NOT_KNOWN
    return _NOT_HEARD if call.status == "started" else _NOT_EXECUTED


_NOT_KNOWN = "The run ended before it was known whether this happened. It may have: do not repeat it without asking."
_NOT_HEARD = "The run ended before this had answered. It changed nothing."
_NOT_EXECUTED = "Not executed and not queued: the run ended first."


def _newest(turns: Sequence[PastTurn]) -> tuple[PastTurn, ...]:
    kept: list[PastTurn] = []
    room = SIZE_LIMIT
    for turn in reversed(turns[-TURNS_LIMIT:]):
        fitting = (short for limit in PART_LIMITS if _size(short := _shorten(turn, limit)) <= room)
        newest = next(fitting, None)
        if newest is None:
            break
        kept.insert(0, newest)
        room -= _size(newest)
    return tuple(kept)


def _size(turn: PastTurn) -> int:
    calls = sum(len(call.proposed.arguments) + len(call.told) for call in turn.calls)
    return sum(map(len, turn.said)) + len(turn.text) + len(turn.note) + calls


def _shorten(turn: PastTurn, limit: int) -> PastTurn:
    def shorten_call(call: PastCall) -> PastCall:
        proposed = call.proposed
        if len(proposed.arguments) > limit:
            # Providers take no arguments that are no JSON object.
            short = dump_text({"shortened": _cut(proposed.arguments, limit // 2)})
            proposed = proposed.model_copy(update={"arguments": short})
        return call.model_copy(update={"proposed": proposed, "told": _cut(call.told, limit)})

    return turn.model_copy(
        update={
            "said": tuple(_cut(text, limit) for text in turn.said),
            "text": _cut(turn.text, limit),
            "calls": tuple(map(shorten_call, turn.calls)),
        }
    )


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    mark = f" … (shortened: {len(text):,} characters in all)"
    return text[: limit - len(mark)] + mark
