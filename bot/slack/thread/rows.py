"""What is written down of the messages of one run, before and after Slack is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agent.engine.guard import LeaseGuard
from agent.ports import MessageStatus, Store, ThreadMessage
from agent.rules.ids import RunId
from bot.slack.ids import Address


@dataclass(frozen=True, slots=True)
class Rows:
    """Kept up by whoever holds ``guard``'s lease. Writes raise ``LeaseLost``, ``StoreUnavailable``."""

    store: Store
    guard: LeaseGuard
    known: dict[str, ThreadMessage]

    @property
    def run_id(self) -> RunId:
        return self.guard.lease.run_id

    @property
    def now(self) -> datetime:
        return self.store.clock.now()

    async def posting(
        self,
        key: str,
        digest: str,
        address: Address | None = None,
        *,
        attempted_at: datetime | None = None,
    ) -> ThreadMessage:
        """It is on its way, or may stand at an address where it must not."""
        return await self._save(key, "posting", digest, address, attempted_at)

    async def editing(
        self, key: str, address: Address, *, since: datetime, digest: str = ""
    ) -> ThreadMessage:
        """What was sent then may land yet; until it does, it shows that. Empty: what it shows nobody knows."""
        return await self._save(key, "editing", digest, address, since)

    async def posted(
        self, key: str, digest: str, address: Address, *, since: datetime | None = None
    ) -> ThreadMessage:
        """It stands there, and shows that."""
        return await self._save(key, "posted", digest, address, since)

    async def noted(self, key: str, digest: str) -> ThreadMessage:
        """Of what stands in no message."""
        return await self._save(key, "posted", digest, None)

    async def still(self, key: str) -> None:
        """It is as it was when last written: this is known to be so by whoever holds the lease alone."""
        await self.store.threads.save(self.guard.lease, self.known[key])

    async def forget(self, key: str) -> None:
        """It stands nowhere."""
        await self.store.threads.forget(self.guard.lease, key)
        self.known.pop(key, None)

    async def _save(
        self,
        key: str,
        status: MessageStatus,
        digest: str,
        address: Address | None,
        attempted_at: datetime | None = None,
    ) -> ThreadMessage:
        row = ThreadMessage(
            key=key,
            status=status,
            address=None if address is None else str(address),
            digest=digest,
            attempted_at=attempted_at or self.now,
            doubts=self.known[key].doubts if key in self.known else 0,
        )
        await self.store.threads.save(self.guard.lease, row)
        self.known[key] = row
        return row
