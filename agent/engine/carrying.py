"""What is done for a call beside the engine's loop: its preview, its run, the look-up of its effect,
and the word of the agent's own decider."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

from agent.engine.agents import CodeDecider
from agent.engine.calls import context_of, did_not_happen, not_begun, run_call
from agent.engine.flights import Happened, Heard, Written
from agent.engine.guard import LeaseGuard
from agent.engine.journaling import RunJournal
from agent.engine.progress import recorded_progress
from agent.engine.recovery import look_up
from agent.engine.telling import tell
from agent.ports import Clock
from agent.rules.calls import Call
from agent.rules.decisions import Decision
from agent.rules.events import (
    ApprovalRequested,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallReturned,
)
from agent.rules.json_text import whole_text
from agent.rules.known_secrets import secrets_of
from agent.rules.parts import EventBase
from agent.rules.state import Approval, RunState
from agent.tools.agent_tool import AgentTool
from agent.tools.cancellation import Cancellation
from agent.tools.context import ToolContext
from agent.tools.logger import ToolLogger
from agent.tools.progress import ProgressLine
from agent.tools.running import TookTooLong, run_bounded, run_function

log = logging.getLogger(__name__)

_Outcome = TypeVar("_Outcome", bound=EventBase | None)

#: What is longer is shown to nobody: it could not be read before a yes.
PREVIEW_LIMIT = 100_000
#: How long an agent's decider may think before people are asked.
DECIDER_TIMEOUT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Carrying:
    """Coroutines for flights. None of them looks at the state while it goes on."""

    journal: RunJournal
    guard: LeaseGuard
    clock: Clock
    #: Of the calls that run: what each looks at to see that it had better end.
    cancellations: set[Cancellation] = field(default_factory=set)

    def cancel(self, reason: str) -> None:
        """Tell all that run that they had better end; nothing is cut off."""
        for cancellation in self.cancellations:
            cancellation.set(reason)

    async def preview(self, tool: AgentTool, state: RunState, call: Call) -> Happened:
        """Ask the tool what would happen; why it can't say is told, too."""
        secrets = secrets_of(call.args, tool.parameters)
        try:
            values = tool.bind(tool.check(call.args), context_of(state, call, call.attempts + 1))
            values.pop(tool.context_name or "", None)
            work = run_function(tool.preview, **values) if tool.preview else _nothing()
            given = str(await run_bounded(work, tool.timeout.total_seconds()))
            said = secrets.hide(given)
            if len(said) > PREVIEW_LIMIT:
                raise ValueError(f"it is longer than {PREVIEW_LIMIT:,} characters")
        except TookTooLong:
            what = f"it took longer than {tool.timeout.total_seconds():g} s"
            return Happened(CallPreviewed(call_id=call.id, error=what))
        except Exception as error:
            log.warning("the preview of %s failed: %s", call.id, type(error).__name__)
            return Happened(CallPreviewed(call_id=call.id, error=secrets.hide(tell(error))))
        return Happened(CallPreviewed(call_id=call.id, preview=whole_text(said)))

    async def run(self, tool: AgentTool, state: RunState, call: Call) -> Happened | Written:
        """Run the call. The outcome of an effect is recorded at once, from here; that of a read waits
        for the next commit."""
        event: CallReturned | CallLeftUnknown | None
        if self.guard.is_over or self._is_late(tool, call):
            # The append took so long that others may take it for lost while it still runs. That
            # nothing happened is known of a first attempt only; any other is left open.
            event = not_begun(call) if call.attempts == 1 else None
        else:
            async with self._attended(tool, state, call) as context:
                event = _said_by(tool, await run_call(tool, call, context))
        if event is None:
            return Written()
        if call.effect == "read":
            return Happened(event)
        return Written(await self.journal.record([self.journal.stamp(event)]))

    @asynccontextmanager
    async def _attended(
        self, tool: AgentTool, state: RunState, call: Call
    ) -> AsyncIterator[ToolContext]:
        """What the tool is told, and heard of, while it runs; behind it nothing that it says counts."""
        line, cancelled = ProgressLine(), Cancellation()
        secrets = secrets_of(call.args, tool.parameters)
        named = {"run_id": state.run_id, "call_id": call.id, "tool": tool.name}
        context = replace(
            context_of(state, call, call.attempts),
            logger=ToolLogger(f"tools.{tool.name}", named, secrets),
            cancelled=cancelled,
            deadline=self.clock.now() + tool.timeout,
            ends_at=time.monotonic() + tool.timeout.total_seconds(),
            say=line.say,
        )

        async def record(text: str) -> None:
            said = CallProgressed(call_id=call.id, attempt=call.attempts, text=text)
            await self.journal.record_once([self.journal.stamp(said)])

        self.cancellations.add(cancelled)
        try:
            async with recorded_progress(line, record, secrets.hide):
                yield context
        finally:
            self.cancellations.discard(cancelled)

    async def look_up(self, tool: AgentTool, state: RunState, call: Call) -> Happened:
        """Nobody is running it any more: what became of its effect?"""
        found = _said_by(tool, await look_up(tool, call))
        if isinstance(found, CallLookedUp) and (state.is_ended or state.stop is not None):
            # Nothing is run any more: that it did not happen is its last word.
            return Happened(did_not_happen(call))
        return Happened(found)

    async def ask_decider(self, decider: CodeDecider, requested: ApprovalRequested) -> Heard:
        """A decider that fails, or takes too long, passes."""
        try:
            asking = _ask(decider, Approval(requested, self.clock.now()))
            decision = await run_bounded(asking, DECIDER_TIMEOUT.total_seconds())
        except Exception as error:
            log.warning("the decider on %s failed: %s", requested.call_id, tell(error))
            decision = None
        return Heard(requested, decision)

    def _is_late(self, tool: AgentTool, call: Call) -> bool:
        return call.deadline is not None and self.clock.now() + tool.timeout > call.deadline


def _said_by(tool: AgentTool, event: _Outcome) -> _Outcome:
    """The same, saying whether its words are to be believed; those of ours say so already."""
    if not isinstance(event, CallReturned) or event.untrusted is not None:
        return event
    return event.model_copy(update={"untrusted": tool.is_untrusted})


async def _ask(decider: CodeDecider, approval: Approval) -> Decision | None:
    return await decider(approval)


async def _nothing() -> str:
    return ""
