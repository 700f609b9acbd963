"""Why a kill switch was not turned."""

from __future__ import annotations

from datetime import datetime

from agent.errors.root import PilothouseError


class NoSuchSwitch(PilothouseError):
    """There is nothing here that this names, or it names several things; ``why`` is a sentence."""

    code = "not_found"

    def __init__(self, named: str, why: str) -> None:
        super().__init__(f"Nothing was switched: {why}")
        self.named = named
        self.why = why


class AlreadySwitched(PilothouseError):
    """It is as it was to be: since ``at``, by ``by``; None where it was never turned."""

    code = "already_switched"

    def __init__(
        self, switch: str, *, is_on: bool, by: str | None = None, at: datetime | None = None
    ) -> None:
        how = "on" if is_on else "off"
        since = "" if by is None or at is None else f" since {at:%Y-%m-%d %H:%M} UTC, by {by}"
        super().__init__(f"Nothing was switched: the kill switch for {switch} is {how}{since}.")
        self.switch = switch
        self.is_on = is_on
        self.by = by
        self.at = at


MAY_NOT_SWITCH = "Nothing was switched: only the owners can turn a kill switch."


class MayNotSwitch(PilothouseError):
    """This person is none of the owners."""

    code = "not_allowed"

    def __init__(self, switch: str) -> None:
        super().__init__(MAY_NOT_SWITCH)
        self.switch = switch
