"""A run that begins where another had come to: what is taken over, and what is left behind.

Taken: what was known of the conversation's earlier runs, what people said, what the model answered, the calls
that ended, with their receipts, as history that never runs again. Left: decisions that were not used, grants,
reservations, holds. What the model had proposed and nobody had begun is proposed anew, under other operation ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.errors import NoBoundary
from agent.rules.calls import Call
from agent.rules.events import Event
from agent.rules.fold import apply, fold
from agent.rules.ids import CallId, OperationId, Principal
from agent.rules.interventions import HistoryTaken, MessageReceived, TakenCall, TakenTurn
from agent.rules.parts import Words
from agent.rules.recorded import Recorded
from agent.rules.state import Reply, RunState, Said
from agent.rules.transcript import words_on


def fork(
    recorded: Sequence[Recorded], at: int, by: Principal, new_id: Callable[[str], str]
) -> tuple[RunState, tuple[Event, ...]]:
    """The state at ``at``, and what follows the start of the new run, which ``by`` wants and which is for
    whoever asked for the other. ``new_id`` makes an id with a prefix. Raises ``NoBoundary`` where a call is under
    way, or there is no such event."""
    run_id = recorded[0].run_id
    if not 1 <= at <= len(recorded):
        raise NoBoundary(run_id, at, _nearest(recorded, at), len(recorded))
    state = fold(recorded[:at])
    if not is_boundary(state):
        raise NoBoundary(run_id, at, _nearest(recorded, at), len(recorded))
    return state, tuple(_taken_over(state, by, new_id))


def is_boundary(state: RunState) -> bool:
    """Is there no call under way, and none of which it is open what became of it? That may also be one that
    people are asked about once more after its answer was lost."""
    return not any(call.status == "started" or call.may_have_happened for call in state.open_calls)


def _nearest(recorded: Sequence[Recorded], at: int) -> int | None:
    """The last place before ``at`` where it can be forked."""
    state: RunState | None = None
    nearest = None
    for one in recorded[: max(at, 0)]:
        state = apply(state, one)
        nearest = one.seq if is_boundary(state) else nearest
    return nearest


def _taken_over(state: RunState, by: Principal, new_id: Callable[[str], str]) -> list[Event]:
    turns = [
        TakenTurn(
            said=() if _has_more(reply) else tuple(words.text for words in reply.heard),
            words=reply.heard if _has_more(reply) else (),
            text=reply.text,
            calls=tuple(_taken(state, call, new_id) for call in state.calls_of(reply)),
            provider=reply.provider,
        )
        for reply in state.replies
    ]
    history = HistoryTaken(
        of_run=state.run_id,
        up_to=state.seq,
        turns=tuple(turns),
        forked_by=tuple(dict.fromkeys((*state.forked_by, by))),
        summary=state.summary,
        summarised=state.summarised,
        taints=state.taints,
    )
    past = [state.past] if state.past else []
    earlier = state.said_earlier
    unseen = [said for said in state.unseen if said not in earlier]
    again = map(_said_again, unseen, state.told(unseen))
    before = (_said_again(said, said.words) for said in earlier)
    return [*past, *before, history, *again]


def _said_again(said: Said, words: Words) -> MessageReceived:
    return MessageReceived(
        by=said.by,
        text=words.text,
        quoted=said.quoted,
        files=said.files,
        is_handed_on=said.is_handed_on,
    )


def _has_more(reply: Reply) -> bool:
    """Did anything come with what was said? Where nothing did, it is written as an older build can read it."""
    return not all(words.is_text_only for words in reply.heard)


def _taken(state: RunState, call: Call, new_id: Callable[[str], str]) -> TakenCall:
    call_id = CallId(new_id("call"))
    if call.result is None:
        news = {"call_id": call_id, "operation_id": OperationId(new_id("op"))}
        return TakenCall(proposed=call.proposed.model_copy(update=news))
    return TakenCall(
        proposed=call.proposed.model_copy(update={"call_id": call_id}),
        title=call.title,
        effect=call.effect,
        args=dict(call.args),
        attempts=call.attempts,
        outcome=call.result.outcome,
        output=call.result.output,
        told=words_on(state, call, call.result),
        receipt=call.receipt,
    )
