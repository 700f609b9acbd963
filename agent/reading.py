"""What can be read of the runs of a store, whoever works them."""

from __future__ import annotations

from agent.asked import find_asked, rows_of_asked
from agent.errors import NotFound
from agent.mending import find_asker, read_state, read_those_that_can_be
from agent.ports import Store
from agent.rules.ids import ApprovalId, OperationId, Principal, RunId
from agent.rules.receipts import KnownEffect, effect_of
from agent.rules.state import Approval, RunState


class Reading:
    """Reads the runs of ``store``."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def state(self, run_id: RunId) -> RunState:
        """Raises ``NotFound``, ``CorruptJournal``, ``UnknownEvent``."""
        return await read_state(self.store, run_id)

    async def approval(self, approval_id: ApprovalId) -> tuple[Approval, RunState]:
        """An approval and its run. Raises ``NotFound``."""
        state = await find_asker(self.store, approval_id)
        return state.approvals[approval_id], state

    async def approvals(
        self, *, limit: int = 50, waiting_only: bool = True
    ) -> list[tuple[Approval, RunState]]:
        """Oldest first: what is open, and what nobody decided in time and waits to be asked again
        (``expired``). Without ``waiting_only``, whatever was ever asked. One whose run can't be read is
        left out, and named in the log."""
        rows = await rows_of_asked(self.store.lists, limit, waiting_only=waiting_only)
        states = await read_those_that_can_be(self.store, (row.run_id for row in rows))
        asked = (
            (find_asked(states[row.run_id], row.approval_id, waiting_only=waiting_only), row)
            for row in rows
            if row.run_id in states
        )
        return [(one, states[row.run_id]) for one, row in asked if one is not None][:limit]

    async def runs(self, *, limit: int = 20, requester: Principal | None = None) -> list[RunState]:
        """Newest first; only ``requester``'s, where given. One that can't be read is left out, and
        named in the log."""
        rows = await self.store.lists.runs(limit=limit, requester=requester)
        return list(
            (await read_those_that_can_be(self.store, (row.run_id for row in rows))).values()
        )

    async def unfinished(self, *, limit: int = 1_000) -> list[RunState]:
        """The runs that have not ended, newest first. One that can't be read is left out, and named in
        the log."""
        rows = await self.store.lists.runs(limit=limit, active_only=True)
        return list(
            (await read_those_that_can_be(self.store, (row.run_id for row in rows))).values()
        )

    async def receipt(self, operation_id: OperationId) -> KnownEffect:
        """What is known of this operation's effect. Raises ``NotFound``."""
        run_id = await self.store.lists.run_of_operation(operation_id)
        known = None if run_id is None else effect_of(await self.state(run_id), operation_id)
        if known is None:
            raise NotFound("operation", operation_id)
        return known
