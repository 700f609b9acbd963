"""The agents that are in force: whoever judges, starts or shows something reads them anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.engine.agents import Agent, by_name

#: As ``AgentsInForce.look``, and ``AgentsInForce.are_as_of``.
Look = Callable[[], Awaitable[None]]
AreAsOf = Callable[[int | None], Awaitable[bool]]


async def nothing() -> None:
    """To look at where there is no file."""


async def always(verdict_seq: int | None) -> bool:
    """Of agents that stay as they are."""
    return True


@dataclass(frozen=True, slots=True)
class Refused:
    """A newer state of the file that could not be loaded, and why, a line a mistake."""

    why: str
    #: When it was written; None where it is not known, or the file is gone.
    written_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileStanding:
    """How the file that the agents were read from stands to them, for those who own them."""

    #: Its name, without the folder.
    file: str
    #: SHA-256 of the bytes that are in force, in hex.
    digest: str
    #: When these were written, where that is known.
    written_at: datetime | None = None
    #: What stands in it now, where that could not be loaded.
    refused: Refused | None = None
    #: Keys whose change holds with the next start only.
    needs_restart: tuple[str, ...] = ()


class AgentsInForce(Mapping[str, Agent]):
    """The agents by their names, the default one first. All of them are replaced at once, between two
    looks: who needs the same agent for several steps keeps it. Raises ``ConfigError`` when two have one
    name, or there is none."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._named = by_name(agents)
        #: Set by whoever read them from a file.
        self.standing: FileStanding | None = None
        #: Holds them against that file: once it returns, what the file said when it was called is in force.
        self.look: Look = nothing
        self._looked_at = -1

    def replace(self, agents: Iterable[Agent], standing: FileStanding | None = None) -> None:
        """From now on these. Raises as the construction does; then the old ones stay."""
        self._named = by_name(agents)
        self.standing = standing

    async def are_as_of(self, verdict_seq: int | None) -> bool:
        """Have they been held against their file since ``verdict_seq`` was the newest fact that can change a
        verdict? If not, they are now, and who needs one takes it anew: somebody else may have loaded a newer file,
        and said so by this fact. None: no matter.

        Raises ``StoreError`` where that can't be done now."""
        if verdict_seq is None or verdict_seq <= self._looked_at:
            return True
        await self.look()
        self._looked_at = max(self._looked_at, verdict_seq)
        return False

    def __getitem__(self, name: str) -> Agent:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)
