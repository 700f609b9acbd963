"""The buttons of the status message: Pause, Resume, Stop, Retry."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.intervening import act_by_click
from bot.slack.services import Services


async def hold(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await act_by_click(services, ack, body, "pause")


async def resume(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await act_by_click(services, ack, body, "resume")


async def stop(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await act_by_click(services, ack, body, "stop")


async def retry(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await act_by_click(services, ack, body, "retry")
