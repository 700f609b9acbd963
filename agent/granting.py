"""Grants: which hold, and taking one back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent.errors import NotFound
from agent.ports import Ids, Store
from agent.rules.control import GrantRevoked, StampedControl
from agent.rules.ids import EventId, GrantId, Principal
from agent.rules.standing import Grant

_AT_A_TIME = 100


@dataclass(frozen=True, slots=True)
class Granting:
    """The grants of one store."""

    store: Store
    ids: Ids

    async def in_force(self) -> AsyncIterator[Grant]:
        """All that hold now, in the order in which they were given."""
        after: GrantId | None = None
        while page := await self.store.control.grants(after, _AT_A_TIME):
            for grant in page:
                yield grant
            after = page[-1].id

    async def revoke(
        self, grant_id: GrantId, by: Principal, reason: str, claimed_by: Principal | None
    ) -> Grant:
        """It holds no more; what it was. Raises ``NotFound`` where it does not hold."""
        async for grant in self.in_force():
            if grant.id == grant_id:
                revoked = GrantRevoked(
                    grant_id=grant_id, by=by, claimed_by=claimed_by, reason=reason
                )
                at = self.store.clock.now()
                await self.store.control.record(
                    [StampedControl(EventId(self.ids.event()), at, revoked)]
                )
                return grant
        raise NotFound("grant that holds", grant_id)
