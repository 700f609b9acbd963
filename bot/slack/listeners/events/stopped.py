"""Somebody pressed the Stop button that Slack shows while an agent is at work."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack import fields
from bot.slack.native.stopping import Pressed, Presser, stop_by_press
from bot.slack.services import Services


async def stopped(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    pressed = Pressed.parse(body)
    work = stop_by_press(services, pressed)
    about = f"{pressed.place.channel}/{pressed.thread_ts}"
    presser = Presser(services, ack, pressed)
    await services.answering.answer_when_done(presser, work, about, fields.event_id(body))
