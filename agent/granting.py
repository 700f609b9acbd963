"""Grants: which hold, and taking one back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent.errors import AlreadyRevoked, NotFound
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
        """All that hold now, in the order in which they were given. One for a run that is over, and can't be
        taken on again, has nothing left to hold for."""
        after: GrantId | None = None
        while page := await self.store.control.grants(after, _AT_A_TIME):
            for grant in page:
                if not await self._is_over(grant):
                    yield grant
            after = page[-1].id

    async def _is_over(self, grant: Grant) -> bool:
        run_id = grant.given.run_id
        row = None if run_id is None else await self.store.lists.run(run_id)
        return row is not None and row.status in ("finished", "cancelled")

    async def revoke(
        self, grant_id: GrantId, by: Principal, reason: str, claimed_by: Principal | None
    ) -> Grant:
        """It holds no more; what it was. Raises ``AlreadyRevoked``, and ``NotFound`` where it does not hold
        for another reason."""
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
        await self._must_not_be_revoked(grant_id)
        raise NotFound("grant that holds", grant_id)

    async def _must_not_be_revoked(self, grant_id: GrantId) -> None:
        """Looks through the control journal: nobody asks this often."""
        after = 0
        while page := await self.store.control.read(after, _AT_A_TIME):
            for one in page:
                if isinstance(one.event, GrantRevoked) and one.event.grant_id == grant_id:
                    raise AlreadyRevoked(grant_id, one.event.by, one.at)
            after = page[-1].seq


async def requester_of(store: Store, grant: Grant) -> Principal | None:
    """Whoever asked for the run that it is for, or for the newest of its conversation."""
    given = grant.given
    if given.run_id is not None:
        row = await store.lists.run(given.run_id)
    elif given.session is not None:
        row = next(iter(await store.lists.runs_of_session(given.session, limit=1)), None)
    else:
        return None
    return row.requester if row is not None else None
