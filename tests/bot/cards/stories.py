"""Histories in which an agent asks people something, and in which several people have to say yes."""

from __future__ import annotations

from typing import Any

from agent.rules.events import ApprovalRequested, ApprovalVoted
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from tests.agent.rules.histories import (
    BOB,
    History,
    asked,
    begun,
    judged,
    replied,
    voted,
)

LAURA = Principal("slack:T0PILOT:U0LAURA")
ANY_TWO = Approvers(groups=("S0FINANCE",), count=2)
ONE_EACH = Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))
#: Whoever asked for the run.
REQUESTER = Approvers(requester=True)
HOW_MUCH = "How much of ORD-3300 is to be refunded?"


def yes(by: Principal = BOB, group: str = "S0FINANCE", **more: Any) -> ApprovalVoted:
    """The vote of a member of this group."""
    return voted(1, by, user=by.rpartition(":")[2], groups=(group,), **more)


def question(
    *options: str,
    text: str = HOW_MUCH,
    free_text: bool = True,
    approval: int = 1,
    approvers: Approvers = REQUESTER,
) -> ApprovalRequested:
    """The agent's question, as the engine asks it."""
    return asked(1, approval=approval, kind="question", approvers=approvers).model_copy(
        update={
            "tool": "ask_user",
            "title": "Ask a person",
            "args": {"question": text, "options": list(options), "free_text": free_text},
            "reason": text,
        }
    )


def questioned(*options: str, **how: Any) -> History:
    """The agent asks Alice something, as ``apr_1``."""
    call = judged(1, "allow", effect="read", is_question=True)
    call = call.model_copy(update={"title": "Ask a person"})
    return begun().then(replied(1)).then(call).then(question(*options, **how))
