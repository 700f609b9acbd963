"""What happened: every call and delivery in order, broken rules, and a counter that moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.sandbox.bell import Bell
from bot.sandbox.wire import Json, Refusal

KEPT = 20_000
BYTES_KEPT = 64 * 1024 * 1024


@dataclass(frozen=True)
class _Kept:
    entry: Json
    #: Written as JSON it takes about so many bytes.
    size: int
    secret: str


class Record:
    """Append-only within its bounds. `version` moves with everything a page may show, `change` with
    every entry that comes or is completed."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seq = 0
        self._kept: dict[int, _Kept] = {}
        #: When each entry changed last, by `seq`; what changed last comes last.
        self._changes: dict[int, int] = {}
        self._bytes = 0
        self._seen = Bell()
        self._noted = Bell()
        self.violations: list[Json] = []
        self.version = 0
        self.change = 0

    def note(self, kind: str, *, secret: str = "", **facts: Any) -> Json:
        """Put down one call, delivery or acknowledgement; `settle` it if it is completed later.

        `secret`: what it takes to do it again and is shown to nobody.
        """
        self._seq += 1
        entry = {"seq": self._seq, "at": self._clock(), "kind": kind, **facts}
        self._keep(entry, secret)
        return entry

    def settle(self, entry: Json) -> None:
        """It is complete now."""
        entry["took_ms"] = max(0, round((self._clock() - entry["at"]) * 1000))
        if (kept := self._kept.get(entry["seq"])) is not None:
            self._keep(entry, kept.secret)

    def calls(self, since: int = 0) -> list[Json]:
        return [kept.entry for seq, kept in self._kept.items() if seq > since]

    def find(self, seq: int) -> Json:
        """Raises `Refusal` for an entry that isn't kept any more, or never was."""
        return self._find(seq).entry

    def secret_of(self, seq: int) -> str:
        """What `note` was told; "" where there was none. Raises `Refusal`."""
        return self._find(seq).secret

    @property
    def oldest(self) -> int:
        """The first `seq` that is still kept; 0 where nothing is."""
        return next(iter(self._kept), 0)

    def changed_since(self, change: int, most: int) -> list[Json]:
        """The entries that came or were completed, by `seq`; the newest, where there are too many."""
        found: list[int] = []
        for seq in reversed(self._changes):
            if self._changes[seq] <= change or len(found) == most:
                break
            found.append(seq)
        return [self._kept[seq].entry for seq in sorted(found)]

    def violation(self, kind: str, detail: str, method: str | None = None) -> None:
        found: Json = {"kind": kind, "at": self._clock(), "detail": detail}
        if method is not None:
            found["method"] = method
        self.violations.append(found)
        del self.violations[:-KEPT]
        self.note("violation", rule=kind, detail=detail, **({"what": method} if method else {}))

    def touch(self) -> int:
        """Something visible changed: wake whoever waits, and give the change its number."""
        self.version += 1
        self._seen.ring()
        return self.version

    def wake(self) -> None:
        self._seen.ring()
        self._noted.ring()

    async def moved(self, since: int, timeout: float) -> None:
        """Return once `version` is beyond `since`, or when the time is up."""
        if self.version <= since:
            await self._seen.heard(timeout)

    async def noted(self, since: int, timeout: float) -> None:
        """Return once `change` is beyond `since`, or when the time is up."""
        if self.change <= since:
            await self._noted.heard(timeout)

    def _keep(self, entry: Json, secret: str) -> None:
        """What is older goes, where there is too much of it."""
        seq, size = entry["seq"], len(json.dumps(entry))
        before = self._kept.get(seq)
        self._kept[seq] = _Kept(entry, size, secret)
        self._bytes += size - (before.size if before else 0)
        self.change += 1
        self._changes.pop(seq, None)
        self._changes[seq] = self.change
        while len(self._kept) > KEPT or (self._bytes > BYTES_KEPT and len(self._kept) > 1):
            oldest = self.oldest
            self._bytes -= self._kept.pop(oldest).size
            del self._changes[oldest]
        self._noted.ring()

    def _find(self, seq: int) -> _Kept:
        if (kept := self._kept.get(seq)) is not None:
            return kept
        if 0 < seq < self.oldest:
            raise Refusal(f"Entry {seq} is no longer kept: the oldest is {self.oldest}.")
        raise Refusal(f"No entry {seq}. The newest is {self._seq}.")
