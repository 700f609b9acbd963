"""The Stop button that Slack itself shows while an agent is at work: the same as ours on the status message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.ids import RunId
from bot.slack import fields
from bot.slack.answering import Answer
from bot.slack.ids import Address, Place
from bot.slack.intervening import act_in_words
from bot.slack.payloads import Actor, Spot
from bot.slack.services import Services
from bot.slack.telling import whisper

_NO_RUN: Final = "Nothing was done: no run is at work in this thread."


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed it in this thread. The payload names no workspace for them: theirs is looked up."""

    actor: Actor
    place: Place
    thread_ts: str

    @classmethod
    def parse(cls, body: object) -> Pressed:
        """Raises ``BadPayload``."""
        event = fields.value(body, "event")
        thread_ts = fields.timestamp(event, "thread_ts")
        team, channel = fields.slack_id(body, "team_id"), fields.slack_id(event, "channel")
        return cls(
            Actor(fields.slack_id(event, "user")), Place(team, channel, thread_ts), thread_ts
        )


@dataclass(frozen=True, slots=True)
class Presser:
    """Whoever pressed it: told in the thread, and only they."""

    services: Services
    ack: AsyncAck
    pressed: Pressed
    saving: str = ""

    async def acknowledge(self, answer: Answer | None) -> bool:
        await self.ack()
        return answer == Answer()

    async def tell(self, answer: Answer) -> None:
        spot = Spot(channel=self.pressed.place.channel, thread_ts=self.pressed.thread_ts)
        await whisper(self.services, spot, self.pressed.actor, answer.text)


async def stop_by_press(services: Services, pressed: Pressed) -> Answer:
    """End the thread's run as whoever pressed it. Raises ``StoreUnavailable``: then Slack tells it again."""
    if (run_id := await _at_work(services, pressed)) is None:
        return Answer(text=_NO_RUN)
    return await act_in_words(services, pressed.actor, "stop", run_id, pressed.place.channel)


async def _at_work(services: Services, pressed: Pressed) -> RunId | None:
    store, session = services.runtime.store, pressed.place.session
    opened = await store.threads.run_at(str(Address(pressed.place.channel, pressed.thread_ts)))
    row = await store.lists.run(opened) if opened is not None else None
    active = await store.lists.active_run(session if row is None else row.session)
    return active.run_id if active is not None else None
