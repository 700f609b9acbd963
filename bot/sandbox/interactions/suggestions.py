"""The options that an app suggested for its external selects: only those can be chosen."""

from __future__ import annotations

from bot.sandbox.newest import Newest
from bot.sandbox.wire import Json

KEPT = 1000


class Suggestions:
    """By person, place (a view's id, or where a message is) and action id."""

    def __init__(self) -> None:
        self._made: Newest[tuple[str, str, str], list[Json]] = Newest(KEPT)

    def remember(self, user: str, place: str, action_id: str, options: list[Json]) -> None:
        """In place of those suggested before, as the client's list shows the last ones only."""
        self._made[(user, place, action_id)] = options

    def to(self, user: str, place: str, action_id: str) -> list[Json]:
        return self._made.get((user, place, action_id), [])
