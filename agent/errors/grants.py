"""What can go wrong when a grant is taken back."""

from __future__ import annotations

from datetime import datetime

from agent.errors.root import PilothouseError


class AlreadyRevoked(PilothouseError):
    """Somebody took this grant back before: ``by``, at ``at``."""

    code = "already_revoked"

    def __init__(self, grant_id: str, by: str, at: datetime) -> None:
        super().__init__(
            f"Nothing was done: {by} revoked {grant_id} at {at:%Y-%m-%d %H:%M} UTC already."
        )
        self.grant_id = grant_id
        self.by = by
        self.at = at


class MayNotRevoke(PilothouseError):
    """This person may not take this grant back, or Slack did not say who they are; ``why`` is a clause."""

    code = "not_allowed"

    def __init__(self, grant_id: str, why: str) -> None:
        super().__init__(f"Not revoked: {why.rstrip('.')}. ({grant_id})")
        self.grant_id = grant_id
        self.why = why
