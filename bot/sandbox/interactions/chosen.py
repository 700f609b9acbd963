"""What a person has chosen in a message or view: their client keeps it and says it again."""

from __future__ import annotations

from typing import Any

from bot.sandbox.controls import State
from bot.sandbox.newest import Newest
from bot.sandbox.wire import Json

KEPT = 1000


class Chosen:
    """By person and place: a view's id, or where a message is."""

    def __init__(self) -> None:
        self._chosen: Newest[tuple[str, str], State] = Newest(KEPT)

    def remember(self, user: str, place: str, block_id: str, action_id: str, value: Json) -> None:
        state = self._chosen.get((user, place), {})
        state.setdefault(block_id, {})[action_id] = value
        self._chosen[(user, place)] = state

    def over(self, user: str, place: str, drawn: State) -> State:
        """The state as drawn, with what this person chose since in controls that are still there."""
        chosen = self._chosen.get((user, place), {})
        return {
            block_id: {
                action_id: self._newer(chosen.get(block_id, {}).get(action_id), value)
                for action_id, value in elements.items()
            }
            for block_id, elements in drawn.items()
        }

    @staticmethod
    def _newer(chosen: Any, drawn: Json) -> Json:
        same_kind = isinstance(chosen, dict) and chosen["type"] == drawn["type"]
        return dict(chosen) if same_kind else drawn
