"""Plain appends on a server, past the writer's thread: on the loop of whoever appends, over connections that are kept
for them alone.

A group is one statement, which is a transaction by itself, so that it takes one way there and back. What comes while
one is on its way is sent over the second connection, and does not wait for it. Of one run there is never more than one
append on its way.

What can't be done so is left to the writer, which finds out why. An answer that is lost leaves its appends in doubt, as
that to a ``COMMIT`` does: they are found again by their event ids.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import asyncpg

from agent.errors import CommitInDoubt, ConfigError, StoreUnavailable
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from store.failures import in_doubt
from store.groups import LARGEST_GROUP, Outcome
from store.listening import TELL
from store.moving_on_server import move_together
from store.plain import Move
from store.reasons import READ_ONLY, sqlstate
from store.server import Server
from store.together import Appending, Heads, move_of

#: Groups on their way at the same time, each over a connection of its own.
WAYS: Final = 2
#: The statement is planned once and kept while its tables grow: rows are found by their keys, however few there
#: were. And whatever the database's own default is, who has waited for a row is to see what was committed before.
SETTINGS: Final = {
    "default_transaction_isolation": "read committed",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
#: What closing says of a connection that was lost.
_LOST: Final = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    work: Appending
    #: Of what was appended; None where that is left to the writer.
    future: asyncio.Future[list[Recorded] | None]


@dataclass(frozen=True, slots=True)
class _Group:
    waiting: Sequence[_Waiting]
    moves: Sequence[Move]


class PlainLane:
    """Belongs to the loop on which it is used. ``waits`` for a row that somebody has."""

    def __init__(self, server: Server, waits: timedelta) -> None:
        self._server = server
        self.heads = Heads()
        self._free = [_Way(server, waits) for _ in range(WAYS)]
        self._waiting: list[_Waiting] = []
        self._is_to_send = False
        self._on_their_way: set[asyncio.Task[None]] = set()
        #: Those that an append is on its way to.
        self._runs: set[RunId] = set()
        self._is_closed = False

    def takes(self, work: Appending) -> bool:
        """May it be done here, as far as is known without waiting?"""
        if self._is_closed or self._server.is_pooled or work.plain is None:
            return False
        return self.heads.get(work.run_id) is not None

    async def append(self, work: Appending) -> list[Recorded] | None:
        """What was appended, once it is durable; None where that is left to the writer. Raises ``CommitInDoubt``.

        A caller that is cancelled stops waiting; what is on its way goes on."""
        if not self.takes(work):
            return None
        loop = asyncio.get_running_loop()
        one = _Waiting(work, loop.create_future())
        self._waiting.append(one)
        if not self._is_to_send:
            # In a moment: whoever is woken together with this caller comes along.
            self._is_to_send = True
            loop.call_soon(self._send)
        return await one.future

    def learn(self, work: Appending, recorded: list[Recorded]) -> None:
        """From what the writer did."""
        self.heads.learn([work], [Outcome(recorded)])

    async def close(self) -> None:
        """Finish what waits, then let go of the connections."""
        self._is_closed = True
        self._send()
        while self._on_their_way:
            await asyncio.wait(self._on_their_way)
        for way in self._free:
            await way.close()

    def _send(self) -> None:
        self._is_to_send = False
        while self._free and (group := self._next_group()).moves:
            way = self._free.pop()
            self._runs.update(move.run_id for move in group.moves)
            task = asyncio.get_running_loop().create_task(self._do(way, group))
            self._on_their_way.add(task)
            task.add_done_callback(self._on_their_way.discard)

    def _next_group(self) -> _Group:
        """Of what waits, no two of a run. All of it, though there be two ways: a statement costs more than two of its
        appends, for the server and for this process."""
        waiting, self._waiting = self._waiting, []
        moves: dict[RunId, tuple[_Waiting, Move]] = {}
        left: set[RunId] = set()
        for one in waiting:
            run_id = one.work.run_id
            if one.future.done():
                continue
            if run_id in left:
                one.future.set_result(None)
            elif run_id in self._runs or run_id in moves or len(moves) == LARGEST_GROUP:
                self._waiting.append(one)
            elif move := move_of(one.work, self.heads):
                moves[run_id] = one, move
            else:
                # With all of its run that come behind it.
                left.add(run_id)
                one.future.set_result(None)
        return _Group([one for one, _ in moves.values()], [move for _, move in moves.values()])

    async def _do(self, way: _Way, group: _Group) -> None:
        try:
            moved = await way.move(group.moves)
        except BaseException as error:  # whatever it is, it belongs to whoever waits for it
            for one, move in zip(group.waiting, group.moves, strict=True):
                self.heads.forget(move.run_id)
                if not one.future.done():
                    one.future.set_exception(error)
            if not isinstance(error, CommitInDoubt):
                raise
        else:
            for one, move in zip(group.waiting, group.moves, strict=True):
                self._answer(one, move, move.run_id in moved)
        finally:
            self._runs.difference_update(move.run_id for move in group.moves)
            self._free.append(way)
            self._send()

    def _answer(self, one: _Waiting, move: Move, has_moved: bool) -> None:
        self.heads.follow(move, has_moved)
        if not one.future.done():
            one.future.set_result(move.recorded if has_moved else None)


class _Way:
    """A connection, made when it is first needed, and made again when it was lost."""

    def __init__(self, server: Server, waits: timedelta) -> None:
        self._server = server
        self._waits = waits
        self._connection: asyncpg.Connection | None = None

    async def move(self, moves: Sequence[Move]) -> Collection[RunId]:
        """Each of another run. Those whose runs are as they were seen are durable then, and named; nothing of the
        others is done. Raises ``CommitInDoubt``."""
        try:
            connection = await self._connected()
        except (StoreUnavailable, ConfigError):
            # The writer meets it too, and tells whoever waits.
            return ()
        if self._server.is_pooled:
            # There each transaction is told what it may wait for, so that it is never a single statement.
            return ()
        moved: Collection[RunId] = ()
        try:
            moved, is_for_others = await move_together(connection, moves, moves[0].wanted.told())
            if is_for_others:
                await connection.execute(TELL)
        except BaseException as error:
            if not _is_undone(error) or sqlstate(error) == READ_ONLY:
                # What it answers next may be the answer to this; and what can only read would do so for good, also
                # once the server takes writes again.
                self._drop()
            if _is_undone(error):
                # What was moved stays so if it could not be told.
                return moved
            if isinstance(error, Exception):
                raise in_doubt(error) from error
            raise
        return moved

    async def close(self) -> None:
        if self._connection is None:
            return
        try:
            await self._connection.close()
        except _LOST:
            # It has ended already, and nothing is on its way.
            self._drop()

    async def _connected(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._server.connect(self._waits, SETTINGS)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _is_undone(error: BaseException) -> bool:
    """Was it refused, by a server that goes on, or before it was sent? One that ends the connection may have
    committed."""
    return getattr(error, "severity_en", None) == "ERROR" or isinstance(error, ValueError)
