"""What a fighter saw, told when it has ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from agent.ports import Lease

#: How a claim ended: it was let go in good order, or left to end by itself.
Ending = Literal["let go", "left"]


@dataclass
class Claim:
    """A lease, from the claim on; instants in microseconds, by the clock that judges."""

    run_id: str
    fence: int
    at: int
    until: int
    ending: Ending = "left"


@dataclass
class Report:
    name: str
    claims: list[Claim] = field(default_factory=list)
    #: How often what was tried, and how often it was refused.
    tries: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    error: str | None = None

    def claimed(self, lease: Lease, term: int) -> Claim:
        until = round(lease.expires_at.timestamp() * 1_000_000)
        self.claims.append(Claim(lease.run_id, lease.fence, until - term, until))
        return self.claims[-1]

    def tried(self, what: str, *, is_refused: bool) -> None:
        self.tries[what] += 1
        self.refused[what] += is_refused

    def written(self) -> dict[str, Any]:
        # A Counter is not made anew from pairs.
        counted = {"tries": dict(self.tries), "refused": dict(self.refused)}
        return vars(self) | counted | {"claims": [asdict(one) for one in self.claims]}

    @classmethod
    def read(cls, written: dict[str, Any]) -> Report:
        counted = {name: Counter(written[name]) for name in ("tries", "refused")}
        claims = [Claim(**one) for one in written["claims"]]
        return cls(**written | counted | {"claims": claims})
