"""The calls of a run as they were judged, read out of its journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from agent.rules.arguments import MalformedArguments, parse_arguments
from agent.rules.events import CallJudged, CallRefused
from agent.rules.fold import apply
from agent.rules.ids import CallId
from agent.rules.parts import Verdict
from agent.rules.recorded import Recorded
from agent.rules.state import RunState


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call, and what it got the last time that it was judged with these arguments."""

    call_id: CallId
    tool: str
    args: Mapping[str, JsonValue]
    verdict: Verdict
    at: datetime
    #: The run as it was then.
    state: RunState

    @property
    def by_the_rules(self) -> Literal["allow", "ask", "deny"]:
        """What the policy alone said: a grant allows what a rule asks about."""
        return "ask" if self.verdict.grant is not None else self.verdict.action


def judged_calls(events: Iterable[Recorded]) -> Iterator[JudgedCall]:
    """In the order in which they were proposed; one that a person changed is there once for each of its
    arguments. Not those that were never judged: malformed, or of no tool. Raises as ``apply``."""
    found: dict[CallId, list[JudgedCall]] = {}
    state: RunState | None = None
    for one in events:
        before, state = state, apply(state, one)
        if before is None or (judged := _judged(before, one)) is None:
            continue
        of_call = found.setdefault(judged.call_id, [])
        if of_call and of_call[-1].args == judged.args:
            of_call.pop()
        of_call.append(judged)
    for of_call in found.values():
        yield from of_call


def _judged(state: RunState, recorded: Recorded) -> JudgedCall | None:
    match recorded.event:
        case CallJudged(call_id=call_id, args=args, verdict=verdict):
            pass
        case CallRefused(call_id=call_id, verdict=Verdict() as verdict):
            args = _args(state, call_id)
        case _:
            return None
    return JudgedCall(call_id, state.call(call_id).tool, args, verdict, recorded.at, state)


def _args(state: RunState, call_id: CallId) -> dict[str, JsonValue]:
    """Of a refused call: as it was judged before, else as the model wrote it."""
    call = state.call(call_id)
    if call.verdict is not None:
        return dict(call.args)
    try:
        return parse_arguments(call.proposed.arguments)
    except MalformedArguments:
        return {}
