"""What the listeners work with; Bolt hands it to them by the argument name ``services``."""

from __future__ import annotations

from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from agent.engine.agents import schemas_of
from agent.rules.known_secrets import KnownSecrets
from agent.rules.state import RunState
from agent.rules.veiling import known_in, veiled
from agent.runtime import Runtime
from bot.slack.answering import Answering
from bot.slack.clients import ResponseUrls
from bot.slack.conversation.apart import Apart
from bot.slack.conversation.turns import Turns
from bot.slack.limiter import Limiter
from bot.slack.people import People
from bot.slack.roots.known import KnownRoots


@dataclass(frozen=True, slots=True)
class Services:
    """One of each a process."""

    runtime: Runtime
    people: People
    slack: AsyncWebClient
    response_urls: ResponseUrls
    limiter: Limiter
    answering: Answering
    roots: KnownRoots
    turns: Turns
    apart: Apart

    def secrets_in(self, state: RunState) -> KnownSecrets:
        """What of the run nobody is to see, as far as its tools are here."""
        return known_in(state, schemas_of(self.runtime.agents))

    def shown(self, state: RunState) -> RunState:
        """The run as it may be shown. What is decided goes by the run as it is."""
        return veiled(state, self.secrets_in(state))
