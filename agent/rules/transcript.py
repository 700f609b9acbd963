"""What the model is told: the state as a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from agent.rules.calls import Call, CallResult
from agent.rules.consent import DENIALS_LIMIT, denials_of
from agent.rules.ids import Principal
from agent.rules.interventions import SessionContinued
from agent.rules.json_text import dump_text
from agent.rules.parts import ProposedCall, ProviderState, Words
from agent.rules.quoting import came_with
from agent.rules.secrets import hide_secrets
from agent.rules.state import Reply, RunState


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person said."""

    text: str
    #: Nobody said it: it is what there is to know of the conversation itself.
    is_note: bool = False
    #: Nobody asks for it: it is what others said before, or a file that came with a person's words.
    is_data: bool = False


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said, and the calls that it proposed."""

    text: str
    calls: tuple[ProposedCall, ...] = ()
    #: What its model wants to have back.
    provider: ProviderState | None = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The one result of one call. ``output`` is JSON where the tool spoke, a sentence elsewhere."""

    model_call_id: str
    tool: str
    output: str
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class Told:
    """What a model has been told of a run: kept from one request to the next, so that each costs no
    more than what is new."""

    messages: tuple[Message, ...] = ()
    #: So many replies, and so many of the messages, never change any more.
    replies: int = 0
    settled: int = 0
    #: What the run began with, as it was told.
    request: Words | None = None

    def up_to(self, state: RunState) -> Told:
        """The run as it is at a later ``state``. Each call of each reply is followed by exactly one
        result, once it has one."""
        if self.request not in (None, state.request):
            # It was taken back, of all that is settled the one thing that can be.
            return Told().up_to(state)
        kept = self.messages[: self.settled] or tuple(_beginning(state))
        replies, settled = self.replies, 0
        news: list[Message] = []
        for number, reply in enumerate(state.replies[self.replies :], self.replies + 1):
            news += _all_said(reply.heard)
            news += _turn(state, reply)
            if all(call.result is not None for call in state.calls_of(reply)):
                replies, settled = number, len(news)
        earlier = state.said_earlier
        news += _all_said(state.told(said for said in state.unseen if said not in earlier))
        # What it began with can be edited until the model has answered.
        settled = len(kept) + settled if replies else 0
        return Told((*kept, *news), replies, settled, state.request)


def transcript(state: RunState) -> tuple[Message, ...]:
    """The run as messages, from its beginning."""
    return Told().up_to(state).messages


def of_this_run(messages: Sequence[Message]) -> Sequence[Message]:
    """Those that are not of the conversation's earlier runs."""
    notes = [n for n, one in enumerate(messages) if isinstance(one, UserMessage) and one.is_note]
    return messages[notes[-1] + 1 :] if notes else messages


def _beginning(state: RunState) -> Iterator[Message]:
    yield from _past(state.past)
    yield from _all_said(said.words for said in state.said_earlier)
    yield from _said(state.request)


def _all_said(said: Iterable[Words]) -> Iterator[Message]:
    for words in said:
        yield from _said(words)


def _said(words: Words) -> Iterator[Message]:
    """What came with the words stands before them."""
    yield from (UserMessage(text, is_data=True) for text in came_with(words))
    yield UserMessage(words.text)


def _past(past: SessionContinued | None) -> Iterator[Message]:
    """The conversation before this run: it begins with what is missing, and says where it is over."""
    if past is None:
        return
    if past.left_out:
        yield UserMessage(_OLDER.format(count=past.left_out), is_note=True)
    for turn in past.turns:
        yield from map(UserMessage, turn.said)
        if turn.calls or turn.text.strip():
            yield AssistantMessage(turn.text, tuple(call.proposed for call in turn.calls))
        for call in turn.calls:
            proposed = call.proposed
            yield ToolMessage(proposed.model_call_id, proposed.tool, call.told, call.is_error)
        if turn.note:
            yield UserMessage(turn.note, is_note=True)
    if past.unreadable:
        yield UserMessage(_UNREADABLE.format(count=past.unreadable), is_note=True)
    yield UserMessage(_IS_PAST, is_note=True)


_OLDER = "[This conversation is older: {count} turns before these are left out.]"
_UNREADABLE = (
    "[There were {count} more runs of this conversation, which can't be read here: what was said and done"
    " in them is not known.]"
)
_IS_PAST = "[So far the earlier runs of this conversation: they have ended. What follows is new.]"


def _turn(state: RunState, reply: Reply) -> Iterator[Message]:
    calls = state.calls_of(reply)
    if not calls and not reply.text.strip():
        return  # An empty reply: providers refuse it in a history.
    yield AssistantMessage(reply.text, tuple(call.proposed for call in calls), reply.provider)
    for call in calls:
        if call.result is not None:
            yield _result(state, call, call.result)


def _result(state: RunState, call: Call, result: CallResult) -> ToolMessage:
    return ToolMessage(
        model_call_id=call.proposed.model_call_id,
        tool=call.tool,
        output=words_on(state, call, result),
        is_error=is_error(result),
    )


def is_error(result: CallResult) -> bool:
    """Is the model to take it for a failure?"""
    return result.outcome in ("error", "refused", "cancelled")


def words_on(state: RunState, call: Call, result: CallResult) -> str:
    """What the model is told of how a call ended."""
    if call.told is not None:
        return call.told
    who = _who(state, call, result.by)
    match result.outcome:
        case "ok" | "error":
            return _steered(state, call) + _as_text(result.output)
        case "refused":
            return f"Not executed and not queued. {_as_text(result.output)}"
        case "dry_run":
            return _steered(state, call, "it would have been executed with") + _as_text(
                result.output
            )
        case "denied":
            reason = f"Reason: {result.output}" if result.output else "No reason was given."
            finally_ = _FINALLY if _is_final(state, call) else ""
            return f"Denied by {who}. {_was_not_executed(call)} and will not be.{finally_} {reason}"
        case "guided":
            wish = f"{who[0].upper()}{who[1:]} wants it done otherwise: {result.output}"
            return f"{_was_not_executed(call)}. {wish}"
        case "answered":
            return f"{who[0].upper()}{who[1:]} answered: {result.output}"
        case "expired" if call.is_question:
            return "Nobody answered in time, which is no answer."
        case "expired":
            silence = "Nobody decided in time: nobody said yes, and nobody said no."
            return f"{silence} {_was_not_executed(call)} and will not be."
        case "happened":
            confirmed = f"It happened: {who} confirmed it. Its own answer is not known."
            return _steered(state, call) + confirmed
        case "cancelled":
            return (
                "It was cut off when the run was stopped. It had not answered, and changed nothing."
            )
        case "given_up":
            nobody = "Nobody could tell whether it happened. Do not repeat it."
            return _steered(state, call, "it was tried with") + nobody


_FINALLY = " Nobody will be asked about exactly this again."


def _is_final(state: RunState, call: Call) -> bool:
    """Was this the last time that people were asked about it? What was denied later changes nothing of
    what the model was told before."""
    return denials_of(state, call.tool, call.args, until=call.ended_at) >= DENIALS_LIMIT


def _was_not_executed(call: Call) -> str:
    """A lost answer is no proof that nothing happened."""
    if call.effect == "idempotent" and call.attempts > 0:
        return "It was started before and its answer was lost; it was not executed again"
    return "It was not executed"


def _steered(state: RunState, call: Call, how: str = "it was executed with") -> str:
    """What somebody changed, ahead of what became of it."""
    if call.steered_by is None:
        return ""
    who = _who(state, call, call.steered_by)
    said = f"{who[0].upper()}{who[1:]} changed the arguments"
    return f"{said}; {how} {dump_text(hide_secrets(call.args, call.parameters))}.\n"


def _who(state: RunState, call: Call, by: Principal | None) -> str:
    """A person, if it was not the agent's own decider."""
    approval_id = call.approval_id
    while approval_id is not None:
        approval = state.approvals[approval_id]
        if approval.decided is not None and approval.decided.by == by:
            is_code = approval.decided.authority == "code"
            return "the agent's own decider" if is_code else "a person"
        approval_id = approval.requested.supersedes
    return "a person"


def _as_text(output: JsonValue) -> str:
    return output if isinstance(output, str) else dump_text(output)
