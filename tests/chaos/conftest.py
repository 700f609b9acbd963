from __future__ import annotations

from tests.bot.conftest import everything_sent_is_as_slack_takes_it
from tests.store.conftest import clock, keys, open_another

__all__ = ["clock", "everything_sent_is_as_slack_takes_it", "keys", "open_another"]
