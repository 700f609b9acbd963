"""How soon a click is acknowledged, and how soon its card has no buttons any more, on two processes with a store
of which each write takes 50 ms; while Slack enforces its limits.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent.ports import Lease, ThreadMessage
from agent.rules.events import Event, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId, SessionId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Recorded, Stamped, dump_event, load_event
from agent.rules.state import RunState
from benchmarks.figures import figure
from benchmarks.processor import seconds_used
from bot.sandbox.content import Content
from bot.sandbox.controls import with_ids
from bot.sandbox.opened import OpenSandbox
from bot.slack.cards.card import card_of
from bot.slack.cards.message import Message
from bot.slack.ids import DENY, Address, Place
from bot.slack.thread.desired import desired
from bot.slack.thread.keys import STATUS_KEY
from store import SqlStore, open_store
from tests.acceptance.town import Town, town
from tests.agent.rules.histories import waiting
from tests.bot.thread.scene import CHANNEL, TEAM, many_channels
from tests.store.database import ask
from tests.store.files import with_tables

A_SECOND, SECONDS = 200, 5
A_MINUTE = 1000
CHANNELS = 20
SETTLED = 3.0
#: For which this program holds the threads that it draws itself.
TERM = timedelta(minutes=1)
#: Slack's, for an acknowledgement; ours, for a card without buttons.
ACKNOWLEDGED_WITHIN, REDRAWN_WITHIN = 3.0, 5.0
#: After that nobody looks any more.
_LOOKED_FOR = 60.0


@dataclass(frozen=True, slots=True)
class Card:
    """A question that waits, as it is shown."""

    state: RunState
    #: Of the message in ``CHANNEL``.
    ts: str


@dataclass(frozen=True, slots=True)
class Clicked:
    """Seconds: from the click to Slack's answer, and from the decision to a card without buttons."""

    acknowledged: float
    redrawn: float


@dataclass(frozen=True, slots=True)
class Clicks:
    """What became of all of them, and what the bots used for one, in seconds of a processor."""

    clicked: Sequence[Clicked]
    used: float


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    own = folder / "clicks"
    own.mkdir()
    url = with_tables(own / "pilothouse.db")
    async with town(own, url, bots=0, rates="real", allow_violations=True) as place:
        burst = await _waiting(url, place.sandbox, A_SECOND * SECONDS)
        where = [str(Place(TEAM, one)) for one in many_channels(place.sandbox, CHANNELS)]
        rest = await _waiting(url, place.sandbox, A_MINUTE, where)
        await place.open_bots(2, ("-m", "benchmarks.slow_bot"))
        # The bots are told of each of these messages, as by Slack: that is not what is measured.
        await asyncio.sleep(SETTLED)
        clicks = await _click(place, burst, A_SECOND)
        yield _acknowledged(clicks, f"{A_SECOND} clicks a second")
        yield _buttons(clicks, f"{A_SECOND} clicks a second")
        await asyncio.sleep(SETTLED)
        clicks = await _click(place, rest, A_MINUTE / 60)
        yield _acknowledged(clicks, f"{A_MINUTE} in a minute")
        yield _buttons(clicks, f"{A_MINUTE} in a minute")


def _acknowledged(clicks: Clicks, how_many: str) -> dict[str, object]:
    took = sorted(one.acknowledged for one in clicks.clicked)
    return figure(
        f"the latest of {len(took)} acknowledgements, {how_many} / Slack's three seconds",
        took[-1] / ACKNOWLEDGED_WITHIN,
        1.0,
        p99_milliseconds=took[len(took) * 99 // 100] * 1000,
        median_milliseconds=took[len(took) // 2] * 1000,
        missed=float(sum(one > ACKNOWLEDGED_WITHIN for one in took)),
        processor_milliseconds_a_click=clicks.used * 1000,
    )


def _buttons(clicks: Clicks, how_many: str) -> dict[str, object]:
    redrawn = sorted(one.redrawn for one in clicks.clicked)
    return figure(
        f"the latest card with buttons after its decision, {how_many} / five seconds",
        redrawn[-1] / REDRAWN_WITHIN,
        1.0,
        p99_milliseconds=redrawn[len(redrawn) * 99 // 100] * 1000,
        median_milliseconds=redrawn[len(redrawn) // 2] * 1000,
    )


async def _waiting(
    url: str, sandbox: OpenSandbox, count: int, places: Sequence[str] = ()
) -> list[Card]:
    """So many runs that wait for a decision and are let go of; with ``places``, their threads are drawn there."""
    store = await open_store(url)
    cards, begun = [], []
    for number in range(count):
        name = f"{len(places)}x{number}"
        place = places[number % len(places)] if places else None
        stamped = [
            Stamped(EventId(f"{name}-{one.seq}"), store.clock.now(), _own(one.event, name, place))
            for one in waiting().recorded
        ]
        run_id = RunId(f"run_{name}")
        begun.append(store.journal.start(run_id, stamped[0], behind=stamped[1:]))
        state = fold(
            Recorded(run_id, seq, one.id, one.at, "", one.event)
            for seq, one in enumerate(stamped, 1)
        )
        (approval,) = state.approvals.values()
        cards.append(Card(state, _post(sandbox, CHANNEL, card_of(approval, state))))
    await asyncio.gather(*begun)
    if places:
        leases = await store.thread_leases.claim("benchmark", TERM, count)
        drawn = {card.state.run_id: card for card in cards}
        await asyncio.gather(
            *(_as_drawn(store, sandbox, lease, drawn[lease.run_id]) for lease in leases)
        )
    await store.close()
    ask(url, "UPDATE runs SET wake_at = NULL")
    return cards


async def _as_drawn(store: SqlStore, sandbox: OpenSandbox, lease: Lease, card: Card) -> None:
    """Everything that its thread is to show stands there."""
    place = Place.of(card.state.place)
    assert place is not None
    for one in desired(card.state):
        is_card = one.key != STATUS_KEY
        channel = CHANNEL if is_card else place.channel
        ts = card.ts if is_card else _post(sandbox, channel, one.message)
        address = str(Address(channel, ts))
        row = ThreadMessage(one.key, "posted", address, one.digest, store.clock.now())
        await store.threads.save(lease, row)
    await store.thread_leases.suspend(lease, seen_seq=card.state.seq, until=None)


def _post(sandbox: OpenSandbox, channel: str, message: Message) -> str:
    blocks = with_ids(list(message.blocks), sandbox.inside.ids)
    content = Content(text=message.text, blocks=blocks)
    posted = sandbox.inside.posting.post(sandbox.inside.workspace.channel(channel), content, None)
    return str(posted["ts"])


def _own(event: Event, name: str, place: str | None) -> Event:
    """The ids of a history are its own; those of another run must differ."""
    text = dump_text(dump_event(event)).replace('"apr_1"', f'"apr_{name}"')
    own = load_event(json.loads(text.replace('"op_1"', f'"op_{name}"')))
    if isinstance(own, RunStarted):
        return own.model_copy(update={"session": SessionId(f"session_{name}"), "place": place})
    return own


async def _click(place: Town, cards: Sequence[Card], a_second: float) -> Clicks:
    """One after the other, whatever becomes of those before."""
    bots, sandbox, url = [bot.pid for bot in place.bots], place.sandbox, place.database_url
    began, used = time.perf_counter(), seconds_used(bots)
    watching = asyncio.create_task(_without_buttons(sandbox, {card.ts for card in cards}))
    clicks = []
    for number, card in enumerate(cards):
        await asyncio.sleep(max(0.0, began + number / a_second - time.perf_counter()))
        clicks.append(asyncio.create_task(_one(sandbox, card.ts)))
    answered = await asyncio.gather(*clicks)
    try:
        redrawn = await asyncio.wait_for(watching, _LOOKED_FOR)
    except TimeoutError:
        redrawn = {}
    decided = _decided(url)
    clicked = [
        Clicked(
            took,
            redrawn[card.ts] - decided[card.state.run_id] if card.ts in redrawn else _LOOKED_FOR,
        )
        for card, took in zip(cards, answered, strict=True)
    ]
    return Clicks(clicked, (seconds_used(bots) - used) / len(cards))


def _decided(url: str) -> dict[str, float]:
    """When each run's question was, by the store's clock, which is this machine's."""
    found = ask(url, "SELECT run_id, body FROM journal WHERE body LIKE '%\"approval_decided\"%'")
    return {
        run_id: datetime.fromisoformat(json.loads(body)["at"]).timestamp() for run_id, body in found
    }


async def _one(sandbox: OpenSandbox, ts: str) -> float:
    """How long it took; the sandbox waits no longer than Slack does."""
    began = time.perf_counter()
    answer = await sandbox.act("U0BOB", "click", channel=CHANNEL, ts=ts, action_id=DENY)
    return time.perf_counter() - began if answer["acknowledged"] else _LOOKED_FOR


async def _without_buttons(sandbox: OpenSandbox, left: set[str]) -> dict[str, float]:
    """When each of these was first seen without."""
    found: dict[str, float] = {}
    seen = sandbox.inside.record.version
    while left:
        await asyncio.sleep(0.05)
        seen, before = sandbox.inside.record.version, seen
        for channel, ts in list(sandbox.inside.messages.changed_since(before)):
            if channel != CHANNEL or ts not in left:
                continue
            if DENY not in str(sandbox.inside.messages.read(channel, ts)["blocks"]):
                found[ts] = time.time()
                left.discard(ts)
    return found
