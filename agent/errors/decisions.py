"""A decision that was not taken, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent.errors.root import PilothouseError


class DecisionRefused(PilothouseError):
    """The decision was not taken; ``approval_id`` says of what."""

    code = "refused"

    def __init__(self, approval_id: str, message: str) -> None:
        super().__init__(message)
        self.approval_id = approval_id


class NotAllowed(DecisionRefused):
    """This person may not decide it. ``may_decide`` says who may, ``why`` what speaks against them."""

    code = "not_allowed"

    def __init__(self, approval_id: str, may_decide: Any, why: str) -> None:
        super().__init__(approval_id, f"Not decided: {why}")
        self.may_decide = may_decide
        self.why = why


class AlreadyDecided(DecisionRefused):
    """Somebody was first: ``by`` whom, what ``action``, and when (``at``)."""

    code = "already_decided"

    def __init__(
        self, approval_id: str, action: str, by: str, at: datetime, message: str | None = None
    ) -> None:
        first = f"Too late: {action} by {by} at {at:%Y-%m-%d %H:%M} UTC. Nothing was changed."
        super().__init__(approval_id, message or first)
        self.action = action
        self.by = by
        self.at = at


class AlreadyVoted(AlreadyDecided):
    """This principal's yes is counted already; ``missing`` says what is still needed."""

    def __init__(self, approval_id: str, by: str, at: datetime, missing: Any) -> None:
        counted = (
            f"Nothing was changed: the yes of {by} at {at:%Y-%m-%d %H:%M} UTC is counted already"
        )
        super().__init__(approval_id, "approved", by, at, f"{counted}. Still needed: {missing}.")
        self.missing = missing


class Superseded(DecisionRefused):
    """A newer approval, ``superseded_by``, asks instead."""

    code = "superseded"

    def __init__(self, approval_id: str, superseded_by: str) -> None:
        super().__init__(
            approval_id,
            f"Not decided: this was replaced by a newer question. Decide {superseded_by} instead.",
        )
        self.superseded_by = superseded_by


class ApprovalExpired(DecisionRefused):
    """Its time was over at ``expires_at``. What it was about may have been begun before all the same."""

    code = "expired"

    def __init__(self, approval_id: str, expires_at: datetime) -> None:
        super().__init__(
            approval_id,
            f"Not decided: this expired at {expires_at:%Y-%m-%d %H:%M} UTC.",
        )
        self.expires_at = expires_at


class ApprovalCancelled(DecisionRefused):
    """Its run has ended, or its call has; there is nothing left to decide."""

    code = "cancelled"

    def __init__(self, approval_id: str) -> None:
        super().__init__(
            approval_id,
            "Not decided: what it was about has ended meanwhile; there is nothing left to decide.",
        )


class StillOpen(DecisionRefused):
    """It is being asked: there is no need to ask it again."""

    code = "still_open"

    def __init__(self, approval_id: str) -> None:
        super().__init__(approval_id, "Nothing was done: this is still open, and can be decided.")


class InvalidArgs(DecisionRefused):
    """The decision can't be carried out; ``errors`` has a message for each field."""

    code = "invalid_args"
    #: Not arguments of the call, but parts of the decision.
    ABOUT_THE_WHOLE = frozenset({"action", "guidance", "outcome", "arguments", "grant"})

    def __init__(self, approval_id: str, errors: Mapping[str, str]) -> None:
        listed = "; ".join(
            message if field in self.ABOUT_THE_WHOLE else f"{field}: {message}"
            for field, message in errors.items()
        )
        super().__init__(approval_id, f"Not decided: {listed}")
        self.errors = dict(errors)
