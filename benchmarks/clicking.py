"""How soon a click is acknowledged, and how soon its card has no buttons any more, on two processes with a store
of which each write takes 50 ms; while Slack enforces its limits.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.rules.events import Event, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId, SessionId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Recorded, Stamped, dump_event, load_event
from benchmarks.figures import figure
from bot.sandbox.content import Content
from bot.sandbox.controls import with_ids
from bot.sandbox.opened import OpenSandbox
from bot.slack.cards.card import card_of
from bot.slack.ids import DENY, Place
from store import open_store
from tests.acceptance.town import town
from tests.agent.rules.histories import waiting
from tests.bot.thread.scene import CHANNEL, TEAM, many_channels
from tests.store.database import ask
from tests.store.files import with_tables

A_SECOND, SECONDS = 200, 5
A_MINUTE = 1000
CHANNELS = 20
SETTLED = 3.0
#: Slack's, for an acknowledgement; ours, for a card without buttons.
ACKNOWLEDGED_WITHIN, REDRAWN_WITHIN = 3.0, 5.0
#: After that nobody looks any more.
_LOOKED_FOR = 60.0


@dataclass(frozen=True, slots=True)
class Clicked:
    """Seconds: from the click to Slack's answer, and from the decision to a card without buttons."""

    acknowledged: float
    redrawn: float


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    own = folder / "clicks"
    own.mkdir()
    url = with_tables(own / "pilothouse.db")
    async with town(own, url, bots=0, rates="real", allow_violations=True) as place:
        await place.open_bots(2, ("-m", "benchmarks.slow_bot"))
        burst = await _waiting(url, place.sandbox, A_SECOND * SECONDS)
        clicked = await _click(place.sandbox, url, burst, A_SECOND)
        acknowledged = sorted(one.acknowledged for one in clicked)
        yield figure(
            f"the latest of {len(clicked)} acknowledgements, {A_SECOND} clicks a second / Slack's three seconds",
            acknowledged[-1] / ACKNOWLEDGED_WITHIN,
            1.0,
            p99_milliseconds=acknowledged[len(acknowledged) * 99 // 100] * 1000,
            median_milliseconds=acknowledged[len(acknowledged) // 2] * 1000,
            missed=float(sum(one > ACKNOWLEDGED_WITHIN for one in acknowledged)),
        )
        yield _buttons(clicked, f"{A_SECOND} clicks a second")
        where = [str(Place(TEAM, one)) for one in many_channels(place.sandbox, CHANNELS)]
        rest = await _waiting(url, place.sandbox, A_MINUTE, where)
        clicked = await _click(place.sandbox, url, rest, A_MINUTE / 60)
        yield _buttons(clicked, f"{A_MINUTE} in a minute")


def _buttons(clicked: Sequence[Clicked], how_many: str) -> dict[str, object]:
    redrawn = sorted(one.redrawn for one in clicked)
    return figure(
        f"the latest card with buttons after its decision, {how_many} / five seconds",
        redrawn[-1] / REDRAWN_WITHIN,
        1.0,
        p99_milliseconds=redrawn[len(redrawn) * 99 // 100] * 1000,
    )


async def _waiting(
    url: str, sandbox: OpenSandbox, count: int, places: Sequence[str] = ()
) -> dict[str, RunId]:
    """So many runs that wait for a decision, by where the card of each stands."""
    channel = sandbox.inside.workspace.channel(CHANNEL)
    store = await open_store(url)
    found: dict[str, RunId] = {}
    begun = []
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
        card = card_of(approval, state)
        blocks = with_ids(list(card.blocks), sandbox.inside.ids)
        content = Content(text=card.text, blocks=blocks)
        found[sandbox.inside.posting.post(channel, content, None)["ts"]] = run_id
    await asyncio.gather(*begun)
    await store.close()
    # The bots are told of each of these messages, as by Slack: that is not what is measured.
    await asyncio.sleep(SETTLED)
    return found


def _own(event: Event, name: str, place: str | None) -> Event:
    """The ids of a history are its own; those of another run must differ."""
    text = dump_text(dump_event(event)).replace('"apr_1"', f'"apr_{name}"')
    own = load_event(json.loads(text.replace('"op_1"', f'"op_{name}"')))
    if isinstance(own, RunStarted):
        return own.model_copy(update={"session": SessionId(f"session_{name}"), "place": place})
    return own


async def _click(
    sandbox: OpenSandbox, url: str, cards: Mapping[str, RunId], a_second: float
) -> list[Clicked]:
    """One after the other, whatever becomes of those before."""
    began = time.perf_counter()
    watching = asyncio.create_task(_without_buttons(sandbox, set(cards)))
    clicks = []
    for number, ts in enumerate(cards):
        await asyncio.sleep(max(0.0, began + number / a_second - time.perf_counter()))
        clicks.append(asyncio.create_task(_one(sandbox, ts)))
    answered = await asyncio.gather(*clicks)
    try:
        redrawn = await asyncio.wait_for(watching, _LOOKED_FOR)
    except TimeoutError:
        redrawn = {}
    decided = _decided(url)
    return [
        Clicked(took, redrawn[ts] - decided[run] if ts in redrawn else _LOOKED_FOR)
        for (ts, run), took in zip(cards.items(), answered, strict=True)
    ]


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
