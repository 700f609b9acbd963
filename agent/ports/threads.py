"""What is known of the messages that show a run. Rows are keyed by opaque strings here; the bot writes
and reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from agent.ports.leases import Lease
from agent.rules.ids import RunId


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """One message of a thread: meant to be posted, or posted."""

    key: str
    status: Literal["posting", "posted"]
    #: Where it stands, once that is known.
    address: str | None
    #: Of what was last sent; empty when somebody else may have changed the message.
    digest: str
    attempted_at: datetime
    #: How often it had been doubted when it was read: a later doubt outlives what is saved.
    doubts: int = 0


class Threads(Protocol):
    """What is known of the messages that show a run. Writes raise ``LeaseLost``."""

    async def messages(self, run_id: RunId) -> dict[str, ThreadMessage]:
        """By key."""

    async def shown_seq(self, run_id: RunId) -> int:
        """Up to which event all of it had been shown when it was last let go of; 0: none."""

    async def save(self, lease: Lease, message: ThreadMessage) -> None:
        """Insert or replace the message of this key; durable when it returns."""

    async def forget(self, lease: Lease, key: str) -> None:
        """The message is gone from the thread."""

    async def doubt(self, run_id: RunId, key: str) -> None:
        """Somebody else may have changed this message: it is drawn again. Needs no lease."""

    async def run_at(self, address: str) -> RunId | None:
        """The newest run that has a message at this address."""
