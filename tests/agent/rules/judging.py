"""Policies and subjects to judge in tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.rules.limiting import Place
from agent.rules.policy import Policy, Subject

OWNERS = {"groups": ["S0OWNERS"]}


def policy(*rules: Mapping[str, Any], owners: Mapping[str, Any] = OWNERS) -> Policy:
    return Policy.model_validate({"owners": owners, "rules": rules})


def subject(tool: str = "process_refund", /, **values: Any) -> Subject:
    return Subject(
        place=Place(
            tool=tool,
            agent="refunds",
            requester="slack:T0PILOT:U0ALICE",
            channel="C0SUPPORT",
            session="session_1",
            run_id="run_1",
        ),
        values=values,
        shown={name: f"«{value}»" for name, value in values.items()},
        size=100,
        asks_by_itself=True,
        own_reason="no rule covers it",
    )
