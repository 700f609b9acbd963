"""What is known of the messages that show a run. Rows are keyed by opaque strings here; the bot writes
and reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Protocol

from agent.ports.leases import Lease
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded

MessageStatus = Literal["posting", "posted", "editing"]
#: Stands for the digest of a message that somebody who acted on it redraws: what it shows will be known in a moment.
ANNOUNCED: Final = "announced"


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """One message of a thread: meant to be posted, posted, or posted and being changed."""

    key: str
    status: MessageStatus
    #: Where it stands, once that is known.
    address: str | None
    #: Of what was last sent; empty when somebody else may have changed the message. Of one that is being changed:
    #: of what it shows, should nothing land that is still on its way; empty where that is not known.
    digest: str
    #: When what may still be on its way was sent, or what has arrived.
    attempted_at: datetime
    #: How often it had been doubted when it was read: a later doubt outlives what is saved.
    doubts: int = 0


@dataclass(frozen=True, slots=True)
class KnownThread:
    """What is known of the thread of one run."""

    messages: Mapping[str, ThreadMessage]
    #: Up to which event all of it had been shown when it was last let go of; 0: none.
    shown_seq: int = 0
    #: Why what the run asks can't be shown, in the outside's own word for it; None while it can, and where
    #: nobody has tried yet.
    trouble: str | None = None
    #: When somebody last asked that it be tried, whatever it was put off for.
    asked_for_at: datetime | None = None


class Threads(Protocol):
    """What is known of the messages that show a run. Writes raise ``LeaseLost``."""

    async def known(self, run_id: RunId) -> KnownThread:
        """All of it; of a run that is not shown, nothing."""

    async def with_journal(self, run_id: RunId) -> tuple[KnownThread, list[Recorded]]:
        """What is known, and the run's journal: all that drawing needs, in one read. Raises as ``read`` of a
        journal does."""

    async def trouble(self, run_id: RunId) -> str | None:
        """As ``known`` gives it."""

    async def set_trouble(self, lease: Lease, trouble: str | None) -> None:
        """Why what the run asks can't be shown, from now on; None: it can."""

    async def save(self, lease: Lease, message: ThreadMessage) -> None:
        """Insert or replace the message of this key; durable when it returns."""

    async def forget(self, lease: Lease, key: str) -> None:
        """The message is gone from the thread."""

    async def doubt(self, run_id: RunId, key: str) -> None:
        """Somebody else may have changed this message: it is drawn again. Needs no lease."""

    async def announce(self, run_id: RunId, address: str) -> datetime | None:
        """Somebody else is about to redraw the message at this address, and what they send may land for a while.
        They will say what became of it; until then it counts as an edit of which nothing was heard, and is
        ``ANNOUNCED`` unless another one may be on its way. Since when; None where no message is known to stand there.
        Needs no lease."""

    async def landed(
        self, run_id: RunId, address: str, announced_at: datetime, digest: str
    ) -> None:
        """What was announced then has arrived. The message shows it; where anything else may have been sent
        meanwhile it is drawn again. Needs no lease."""

    async def lost(self, run_id: RunId, address: str) -> None:
        """Of what was announced nothing is heard any more: it may land from now on as an edit that was just sent, and
        the message is drawn again. Needs no lease."""

    async def try_now(self, run_id: RunId) -> None:
        """Whatever it was put off for: it is tried as soon as somebody can. Needs no lease."""

    async def to_be_drawn(self) -> list[RunId]:
        """The runs whose threads are looked at now, or at a time to come."""

    async def run_at(self, address: str) -> RunId | None:
        """The newest run that has a message at this address."""
