"""A work that waits for the writer's thread, and where what becomes of it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from store.groups import Outcome

#: Behind the works of every run, and in a transaction of its own where rows are locked: for what takes
#: rows of many runs, and may wait for them only while it has no others.
LAST = "\U0010ffff"


@dataclass(slots=True, eq=False)
class Queued:
    """``of`` names what the work writes; ``behind`` is what it locks first of all."""

    work: Callable[[Connection], Any]
    of: str
    behind: Callable[[Connection], Any] | None
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop

    @property
    def place(self) -> str | None:
        return None if self.of in ("", LAST) else self.of

    @property
    def is_wanted(self) -> bool:
        return not self.future.cancelled()


def answer(outcomes: Iterable[tuple[Queued, Outcome]]) -> None:
    """Hand the outcomes over, each loop's in one go."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Queued, Outcome]]] = {}
    for item, outcome in outcomes:
        by_loop.setdefault(item.loop, []).append((item, outcome))
    for loop, answered in by_loop.items():
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(_resolve, answered)


def _resolve(answered: list[tuple[Queued, Outcome]]) -> None:
    for item, outcome in answered:
        if item.future.done():
            continue
        if outcome.error is not None:
            item.future.set_exception(outcome.error)
        else:
            item.future.set_result(outcome.value)
