"""What the listeners work with; Bolt hands it to them by the argument name ``services``."""

from __future__ import annotations

from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

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
