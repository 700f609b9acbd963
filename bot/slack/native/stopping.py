"""The Stop button that Slack itself shows while an agent is at work: the same as ours on the status message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.rules.ids import RunId, SessionId
from agent.rules.state import RunState
from bot.slack import fields
from bot.slack.answering import Answer
from bot.slack.ids import Address, Place
from bot.slack.intervening import act_in_words
from bot.slack.messages import address_of
from bot.slack.payloads import Actor, Spot
from bot.slack.services import Services
from bot.slack.telling import whisper

#: Slack's clock and the store's may differ by so much.
_CLOCKS_DIFFER: Final = timedelta(seconds=10)
#: As many messages as may grow at a time, and more.
_STREAMS: Final = 20
_NO_RUN: Final = "Nothing was done: no run is at work in this thread."


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed it in this thread. The payload names no workspace for them: theirs is looked up."""

    actor: Actor
    place: Place
    thread_ts: str
    #: The messages that grew then.
    streams: tuple[str, ...] = ()
    #: By Slack's clock.
    at: datetime | None = None

    @classmethod
    def parse(cls, body: object) -> Pressed:
        """Raises ``BadPayload``."""
        event = fields.value(body, "event")
        thread_ts = fields.timestamp(event, "thread_ts")
        team, channel = fields.slack_id(body, "team_id"), fields.slack_id(event, "channel")
        streams = fields.value(event, "streaming_message_ts")
        known = map(fields.timestamp_or_none, streams if isinstance(streams, list) else ())
        at = fields.timestamp_or_none(fields.value(event, "event_ts"))
        return cls(
            Actor(fields.slack_id(event, "user")),
            Place(team, channel, thread_ts),
            thread_ts,
            tuple(one for one in known if one is not None)[:_STREAMS],
            datetime.fromtimestamp(float(at), UTC) if at else None,
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
    """End the run that was at work in the thread then, as whoever pressed it; of one that has begun since, or has been
    stopped already, nothing is said. Raises ``StoreUnavailable``: then Slack tells it again."""
    session = await _session(services, pressed)
    active = await services.runtime.store.lists.active_run(session)
    if active is None:
        is_done = await _was_stopped_since(services, pressed, session)
        return Answer() if is_done else Answer(text=_NO_RUN)
    if not await _was_at_work(services, pressed, active.run_id):
        return Answer()
    return await act_in_words(services, pressed.actor, "stop", active.run_id, pressed.place.channel)


async def _session(services: Services, pressed: Pressed) -> SessionId:
    store, session = services.runtime.store, pressed.place.session
    opened = await store.threads.run_at(str(Address(pressed.place.channel, pressed.thread_ts)))
    row = await store.lists.run(opened) if opened is not None else None
    return session if row is None else row.session


async def _was_at_work(services: Services, pressed: Pressed, run_id: RunId) -> bool:
    """Slack may deliver it late, or once more: by then the next run of the thread may be at work."""
    threads, channel = services.runtime.store.threads, pressed.place.channel
    grew = {await threads.run_at(str(Address(channel, ts))) for ts in pressed.streams} - {None}
    if grew and run_id not in grew:
        return False
    state = await _read(services, run_id)
    return pressed.at is None or state is None or not _goes_on_since(state, pressed.at)


def _goes_on_since(state: RunState, at: datetime) -> bool:
    """Did it begin after that, or was it taken on again?"""
    if any(again > at + _CLOCKS_DIFFER for _, again in state.outages):
        return True
    began = address_of(state.ref) if state.ref else None
    if began is None:
        return state.started_at > at + _CLOCKS_DIFFER
    # Both times are Slack's.
    return datetime.fromtimestamp(float(began.ts), UTC) > at


async def _was_stopped_since(services: Services, pressed: Pressed, session: SessionId) -> bool:
    rows = await services.runtime.store.lists.runs_of_session(session, limit=1)
    state = await _read(services, rows[0].run_id) if rows else None
    stop = state.stop if state is not None else None
    return stop is not None and pressed.at is not None and stop.at > pressed.at


async def _read(services: Services, run_id: RunId) -> RunState | None:
    """None: it can't be read here."""
    try:
        return await services.runtime.state(run_id)
    except (CorruptJournal, NotFound, UnknownEvent):
        return None
