"""What is kept is brought under the newest key while the bot is at work, a few facts at a time."""

from __future__ import annotations

import asyncio
import logging

from agent.errors import StoreError
from agent.ports import Rotation

log = logging.getLogger(__name__)

#: Between two parts, so that what people wait for comes first; and between two looks whether there is something to do.
REST_SECONDS, LOOK_SECONDS = 0.05, 15.0


async def rotate(rotation: Rotation, process_id: str) -> None:
    """For ever. Where nothing is encrypted a look costs nothing."""
    said = ""
    while True:
        is_going = False
        try:
            is_going = await rotation.go_on(process_id)
        except StoreError as error:
            if str(error) != said:
                said = str(error)
                log.warning("nothing is brought under the newest key now: %s", said)
        else:
            said = ""
        await asyncio.sleep(REST_SECONDS if is_going else LOOK_SECONDS)
