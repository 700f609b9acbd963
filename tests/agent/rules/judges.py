"""A judge for tests: refunds, with the thresholds of the seed story."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from pydantic import JsonValue

from agent.rules.binding import digest
from agent.rules.judgement import InvalidCall, Judgement
from agent.rules.parts import Approvers, Effect, Granting, Patience
from tests.agent.rules.histories import FINANCE, FOR_EVER, PARAMETERS, verdict


@dataclass(frozen=True, slots=True)
class RefundJudge:
    """Above ``asks_above`` people are asked, above ``denies_above`` it is refused."""

    asks_above: float = 100
    denies_above: float = 1_000
    effect: Effect = "idempotent"
    approvers: Approvers = FINANCE
    valid_for: timedelta | None = None
    can_preview: bool = False
    preview_must_match: bool = False
    patience: Patience = FOR_EVER
    granting: Granting | None = None

    def __call__(self, tool: str, args: Mapping[str, JsonValue]) -> Judgement:
        amount = args.get("amount")
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise InvalidCall({"amount": "Enter a number, such as 90 or 90.50."})
        return Judgement(
            tool=tool,
            title="Refund an order",
            effect=self.effect,
            args=dict(args),
            parameters=PARAMETERS,
            schema_digest=digest(PARAMETERS),
            verdict=verdict(
                self._action(amount),
                approvers=self.approvers,
                valid_for=self.valid_for,
                patience=self.patience,
                granting=self.granting,
            ),
            can_preview=self.can_preview,
            preview_must_match=self.preview_must_match,
        )

    def _action(self, amount: float) -> Literal["allow", "ask", "deny"]:
        if amount > self.denies_above:
            return "deny"
        return "ask" if amount > self.asks_above else "allow"
