"""The gate before an effect: what a call is told by its schema, the policy and people, as events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.engine.agents import Agent
from agent.errors import Blocked
from agent.ports import Ids
from agent.rules.arguments import MalformedArguments, parse_arguments
from agent.rules.asking import ask_about, ask_what_happened
from agent.rules.budgets import Reached, ask_for_more
from agent.rules.calls import Call
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.consent import DENIALS_LIMIT, denials_of, why_again
from agent.rules.events import (
    ApprovalRequested,
    CallJudged,
    CallLeftUnknown,
    CallRefused,
    CallStarted,
    Event,
)
from agent.rules.grants import under_grant
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.judgement import InvalidCall, Judgement
from agent.rules.limiting import held_by, is_over, promised, reserved_by
from agent.rules.parts import Approvers, Effect
from agent.rules.state import RunState
from agent.tools.agent_tool import AgentTool

#: What a call may take beyond its time-out before somebody else looks its effect up.
DEADLINE_MARGIN = timedelta(seconds=5)
#: From what may be done again at will to what may not.
STRICTNESS: tuple[Effect, ...] = ("read", "idempotent", "once")
#: How often a call is asked again because what it would do has changed.
PREVIEW_CHANGES_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges the calls of one agent's runs. Values in, events out."""

    agent: Agent
    ids: Ids

    def tool_of(self, call: Call) -> AgentTool:
        """Raises ``Blocked`` when a judged call's tool is not here any more."""
        tool = self.agent.toolbox.get(call.tool)
        if tool is None:
            raise Blocked("missing_tool", f"{self.agent.name} has no tool {call.tool} any more.")
        return tool

    def asks_code(self, call: Call) -> bool:
        """Is the agent's own decider asked about this call before people are?"""
        return self.agent.decider is not None and not call.is_question

    def judge(
        self, state: RunState, call: Call, now: datetime, around: Circumstances = NOTHING_KNOWN
    ) -> CallJudged | CallRefused:
        """The verdict on a call as the model wrote it, or why it can't be one."""
        if self.agent.toolbox.get(call.tool) is None:
            known = ", ".join(spec.name for spec in self.agent.toolbox.specs)
            message = f"There is no tool named {call.tool}. There are: {known}."
            return CallRefused(call_id=call.id, code="unknown_tool", message=message)
        try:
            args = parse_arguments(call.proposed.arguments)
            # What may start before it takes its part first.
            judgement = self.agent.judge(state, call.tool, args, promised(around, state))
            judgement = under_grant(judgement, around.grants, state, now)
        except MalformedArguments as error:
            return CallRefused(call_id=call.id, code="malformed", message=str(error))
        except InvalidCall as error:
            message = f"The arguments do not fit. {error}"
            return CallRefused(call_id=call.id, code="invalid_args", message=message)
        return (
            _refused(call, judgement)
            or _denied_before(state, call, judgement)
            or judgement.of(call.id)
        )

    def start(
        self, state: RunState, call: Call, now: datetime, around: Circumstances = NOTHING_KNOWN
    ) -> CallStarted | CallJudged | CallRefused | CallLeftUnknown:
        """A start, if the policy and the people still say yes to exactly this call; else its new
        verdict (it is asked again), or its refusal."""
        tool = self.tool_of(call)
        effect = self.effect_of(call)
        try:
            held = replace(around, held=held_by(call))
            judgement = self.agent.judge(state, call.tool, call.args, held)
            judgement = under_grant(judgement, around.grants, state, now)
        except InvalidCall as error:
            message = f"The tool has changed, and the arguments do not fit any more. {error}"
            return _given_up(
                call, CallRefused(call_id=call.id, code="invalid_args", message=message)
            )
        if refused := _refused(call, judgement):
            return _given_up(call, refused)
        if judgement.verdict.action == "ask" and (why := why_again(state, call, judgement, now)):
            # Of a call that nobody was asked about the reason says all that there is to say.
            is_first = call.approval_id is None and is_over(judgement.verdict)
            return judgement.of(call.id, again_because=None if is_first else why)
        if self.agent.is_dry(state):
            return _not_carried_out(call, judgement)
        return CallStarted(
            call_id=call.id,
            attempt=call.attempts + 1,
            deadline=now + tool.timeout + DEADLINE_MARGIN,
            effect=None if effect == call.effect else effect,
            reserves=reserved_by(judgement.verdict, call),
            grant=None if call.approved_id else judgement.verdict.grant,
        )

    def effect_of(self, call: Call) -> Effect:
        """What its tool declares: when the call was judged or now, whichever forbids more. Raises
        ``Blocked`` as ``tool_of`` does."""
        return max(call.effect, self.tool_of(call).effect, key=STRICTNESS.index)

    def ask(self, state: RunState, call: Call, now: datetime) -> ApprovalRequested | CallRefused:
        """The question whether this call may happen, or the agent's own question to people; a
        refusal where it was asked too often, each time of something else."""
        if call.preview_changes > PREVIEW_CHANGES_LIMIT:
            message = "What it would do changed each time that it was about to start."
            return CallRefused(call_id=call.id, code="preview_changed", message=message)
        group = state.replies[-1].group
        return ask_about(call, ApprovalId(self.ids.new("apr")), group, now)

    def ask_for_more(self, state: RunState, reached: Reached, now: datetime) -> tuple[Event, ...]:
        """What follows from a budget that is used up."""
        agent = self.agent
        assert agent.budget is not None, "what is not there is not used up"
        owners = Approvers(users=agent.policy.owners.users, groups=agent.policy.owners.groups)
        approval_id = ApprovalId(self.ids.new("apr"))
        return ask_for_more(state, reached, agent.budget, owners, approval_id, now)


def review(call: Call, detail: str, ids: Ids) -> ApprovalRequested:
    """The question whether this call's effect happened; asked of whoever might allow it."""
    return ask_what_happened(call, detail, ApprovalId(ids.new("apr")), GroupId(ids.new("grp")))


def _denied_before(state: RunState, call: Call, judgement: Judgement) -> CallRefused | None:
    """People said no to exactly this, were asked once more and said no again: that is enough."""
    if judgement.verdict.action != "ask":
        return None
    if denials_of(state, judgement.tool, judgement.args) < DENIALS_LIMIT:
        return None
    message = "Exactly this was denied twice in this run; nobody is asked about it again."
    return CallRefused(
        call_id=call.id, code="denied_before", message=message, verdict=judgement.verdict
    )


def _given_up(call: Call, refused: CallRefused) -> CallRefused | CallLeftUnknown:
    """A call that was started and whose answer was lost may have happened: then it is not refused,
    it is unknown."""
    if call.status != "started" or call.effect != "idempotent":
        return refused
    detail = f"It was started, its answer was lost, and it may not run again. {refused.message}"
    return CallLeftUnknown(call_id=call.id, detail=detail)


def _not_carried_out(call: Call, judgement: Judgement) -> CallRefused | CallLeftUnknown:
    """Where it was begun before its agent's runs became dry ones, it may have happened."""
    if call.may_have_happened:
        return CallLeftUnknown(call_id=call.id, detail=_BEGUN_BEFORE)
    return CallRefused(
        call_id=call.id, code="dry_run", message=_NOT_CARRIED_OUT, verdict=judgement.verdict
    )


_BEGUN_BEFORE = "It was started, and its answer was lost. In a dry run it is not run again."
#: For the model: it is not to say that something was done, nor to try until it is.
_NOT_CARRIED_OUT = (
    "This is a dry run: the call was judged, and not carried out. Nothing happened, and there is no result. Do not"
    " repeat it, and do not say that it was done: say what would have been done."
)


def _refused(call: Call, judgement: Judgement) -> CallRefused | None:
    verdict = judgement.verdict
    if verdict.action != "deny":
        return None
    message = f"The policy does not allow it: {verdict.reason}"
    return CallRefused(call_id=call.id, code="policy", message=message, verdict=verdict)
