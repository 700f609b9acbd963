"""What a bot does a little at a time while it serves people."""

from __future__ import annotations

from agent.chores import Chore
from agent.housekeeping import LOOK_SECONDS, Housekeeping
from agent.ports import Rotation
from bot.compose import Opened

#: Between two looks whether there is something to bring under the newest key. Where nothing is encrypted one costs
#: nothing.
LOOK_FOR_KEYS_SECONDS = 15.0


def remove_by_retention(house: Opened) -> Chore:
    keeping = Housekeeping(house.runtime.store, lambda: house.retention)
    return Chore("removed by retention", keeping.some, LOOK_SECONDS)


def rotate_keys(rotation: Rotation, process_id: str) -> Chore:
    return Chore(
        "brought under the newest key", lambda: rotation.go_on(process_id), LOOK_FOR_KEYS_SECONDS
    )
