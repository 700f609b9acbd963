"""Back in a channel: what could not be shown there is shown at once."""

from __future__ import annotations

import logging

from agent.errors import StoreError, StoreUnavailable
from agent.rules.ids import RunId
from bot.slack.ids import Place
from bot.slack.services import Services

_log = logging.getLogger(__name__)


async def draw_again(services: Services, channel: Place) -> None:
    """Have every thread of the channel tried, whatever it was put off for. Without this each would be tried
    all the same, but up to a minute later."""
    threads = services.runtime.store.threads
    try:
        for run_id in await threads.to_be_drawn():
            if await _is_shown_in(services, run_id, channel):
                await threads.try_now(run_id)
    except StoreUnavailable as error:
        _log.warning("what could not be shown in %s is tried later: %s", channel.channel, error)


async def _is_shown_in(services: Services, run_id: RunId, channel: Place) -> bool:
    """Raises ``StoreUnavailable``."""
    try:
        place = Place.of((await services.runtime.state(run_id)).place)
    except StoreUnavailable:
        raise
    except StoreError:
        # It can't be read, and so not be drawn either.
        return False
    return place is not None and (place.team, place.channel) == (channel.team, channel.channel)
