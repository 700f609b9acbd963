"""What the bots of these tests send is looked at as in any other test of the bot, from processes of their own too."""

from __future__ import annotations

from tests.bot.conftest import everything_sent_is_as_slack_takes_it
from tests.own_modules import own_modules_forgotten

__all__ = ["everything_sent_is_as_slack_takes_it", "own_modules_forgotten"]
