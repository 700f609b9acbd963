"""The composition root: what the settings name becomes a store and a runtime on it.

Nothing else imports ``store``. A bot process adds Slack, HTTP and a worker: ``bot.process``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agent.errors import ConfigError, NotAllowed
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.state import Approval
from agent.runtime import Runtime
from bot.config import load_config
from bot.settings import Settings
from store import open_store


@dataclass(frozen=True, slots=True)
class Opened:
    """A runtime on the store and with the agents that the settings name."""

    settings: Settings
    runtime: Runtime

    async def person(self, user: str, approval: Approval, *, claimed_by: Principal) -> Decider:
        """This Slack user as one who decides, looked up as for a click.

        Raises ``NotAllowed`` for whom Slack does not confirm, ``ConfigError`` without a token."""
        # Slack's libraries are slow to import, and few commands need them.
        from bot.slack.clients import slack_client
        from bot.slack.people import NotEligible, People

        token = self.settings.slack_bot_token
        if token is None:
            raise ConfigError(
                "--by looks people up in Slack, and SLACK_BOT_TOKEN is not set. Nothing was decided."
            )
        people = People(slack_client(token.get_secret_value(), self.settings.slack_api_url))
        approvers = approval.requested.approvers
        try:
            found = await people.decider(user, asked=approvers)
        except NotEligible as error:
            raise NotAllowed(approval.id, approvers, f"{error.why}.") from error
        return replace(found, claimed_by=claimed_by)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Opened]:
    """Raises ``ConfigError``, ``StoreUnavailable``."""
    config = load_config(settings.config, model=settings.model)
    store = await open_store(settings.store_url)
    try:
        yield Opened(settings, Runtime(config.agents, store))
    finally:
        await store.close()
