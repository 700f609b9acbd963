"""A question in a journal, once more: is it about the call that it names, and asked of whom the verdict says?"""

from __future__ import annotations

from agent.rules.events import ApprovalRequested
from agent.rules.state import RunState


def why_not_asked(asked: ApprovalRequested, state: RunState) -> str | None:
    """What should have been asked, in words; None where it is right."""
    if asked.approval_id in state.approvals:
        return "a question that was not asked before"
    if asked.call_id is None:
        return None
    call = state.call(asked.call_id)
    if asked.tool != call.tool:
        return f"a question about {call.tool}"
    if asked.supersedes != call.approval_id:
        return f"a question in place of {call.approval_id}"
    if asked.approval_kind == "question" or call.is_question or call.verdict is None:
        return None
    # Of old a preview was written down nowhere else.
    is_previewed = not call.can_preview or asked.preview == call.preview
    if asked.args != dict(call.args) or not is_previewed:
        return "a question about what the call would do"
    is_of_those = asked.approvers == call.verdict.approvers_at(call.stage)
    return None if is_of_those else "a question to those whom its verdict names"
