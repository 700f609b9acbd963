"""The gate before an effect: what a call is told by its schema, the policy and people, as events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.engine.agents import Agent
from agent.errors import Blocked
from agent.ports import Ids
from agent.rules.arguments import MalformedArguments, parse_arguments
from agent.rules.binding import binding_hash
from agent.rules.events import (
    ApprovalRequested,
    CallJudged,
    CallLeftUnknown,
    CallRefused,
    CallStarted,
)
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.judgement import InvalidCall, Judgement, has_consent
from agent.rules.state import Call, RunState
from agent.tools.declare import Tool

#: What a call may take beyond its time-out before somebody else looks its effect up.
DEADLINE_MARGIN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges the calls of one agent's runs. Values in, events out."""

    agent: Agent
    ids: Ids

    def tool_of(self, call: Call) -> Tool:
        """Raises ``Blocked`` when a judged call's tool is not here any more."""
        tool = self.agent.toolbox.get(call.tool)
        if tool is None:
            raise Blocked("missing_tool", f"{self.agent.name} has no tool {call.tool} any more.")
        return tool

    def judge(self, state: RunState, call: Call) -> CallJudged | CallRefused:
        """The verdict on a call as the model wrote it, or why it can't be one."""
        if self.agent.toolbox.get(call.tool) is None:
            known = ", ".join(spec.name for spec in self.agent.toolbox.specs)
            message = f"There is no tool named {call.tool}. There are: {known}."
            return CallRefused(call_id=call.id, code="unknown_tool", message=message)
        try:
            args = parse_arguments(call.proposed.arguments)
            judgement = self.agent.judge(state, call.tool, args)
        except MalformedArguments as error:
            return CallRefused(call_id=call.id, code="malformed", message=str(error))
        except InvalidCall as error:
            message = f"The arguments do not fit. {error}"
            return CallRefused(call_id=call.id, code="invalid_args", message=message)
        return _refused(call, judgement) or judgement.of(call.id)

    def start(
        self, state: RunState, call: Call, now: datetime
    ) -> CallStarted | CallJudged | CallRefused | CallLeftUnknown:
        """A start, if the policy and the people still say yes to exactly this call; else its new
        verdict (it is asked again), or its refusal."""
        tool = self.tool_of(call)
        try:
            judgement = self.agent.judge(state, call.tool, call.args)
        except InvalidCall as error:
            message = f"The tool has changed, and the arguments do not fit any more. {error}"
            return _given_up(
                call, CallRefused(call_id=call.id, code="invalid_args", message=message)
            )
        if refused := _refused(call, judgement):
            return _given_up(call, refused)
        if judgement.verdict.action == "ask" and not has_consent(state, call, judgement):
            return judgement.of(call.id)
        return CallStarted(
            call_id=call.id,
            attempt=call.attempts + 1,
            deadline=now + tool.timeout + DEADLINE_MARGIN,
        )

    def ask(self, call: Call, group: GroupId, preview: str | None) -> ApprovalRequested:
        """The question whether this call may happen."""
        if call.verdict is None:
            raise Blocked("corrupt", f"{call.id} was never judged.")
        return ApprovalRequested(
            approval_id=ApprovalId(self.ids.new("apr")),
            group=group,
            call_id=call.id,
            tool=call.tool,
            title=call.title,
            args=dict(call.args),
            preview=preview,
            reason=call.verdict.reason,
            rule=call.verdict.rule,
            policy_version=call.verdict.policy_version,
            hash=binding_hash(call.tool, call.schema_digest, call.args, preview),
            approvers=call.verdict.approvers,
            supersedes=call.approval_id,
        )

    def review(self, call: Call) -> ApprovalRequested:
        """The question whether this call's effect happened; asked of whoever might allow it."""
        asked = self.ask(call, self.new_group(), None)
        return asked.model_copy(update={"approval_kind": "review", "reason": call.detail})

    def new_group(self) -> GroupId:
        return GroupId(self.ids.new("grp"))


def _given_up(call: Call, refused: CallRefused) -> CallRefused | CallLeftUnknown:
    """A call that was started and whose answer was lost may have happened: then it is not refused,
    it is unknown."""
    if call.status != "started" or call.effect != "idempotent":
        return refused
    detail = f"It was started, its answer was lost, and it may not run again. {refused.message}"
    return CallLeftUnknown(call_id=call.id, detail=detail)


def _refused(call: Call, judgement: Judgement) -> CallRefused | None:
    verdict = judgement.verdict
    if verdict.action != "deny":
        return None
    message = f"The policy does not allow it: {verdict.reason}"
    return CallRefused(call_id=call.id, code="policy", message=message, verdict=verdict)
