"""What is known of the messages that show a run, and how far its thread is behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import (
    Connection,
    Row,
    Text,
    Update,
    and_,
    bindparam,
    case,
    delete,
    insert,
    literal,
    select,
    update,
)

from agent.errors import LeaseLost, Unstorable
from agent.ports import ANNOUNCED, KnownThread, Lease, ThreadMessage
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from store.clock import StoreClock
from store.falling_due import Behind, due_at_once, is_due
from store.instants import Instant
from store.keys import Keys
from store.now import NOW
from store.reader import Reader
from store.reading import read_facts
from store.schema import runs, thread_messages, threads
from store.wakeups import stir
from store.writer import Writer, of_thread

_INSERT_THREAD = insert(threads).values(wake_at=NOW)
_WANT = (
    update(threads)
    .where(threads.c.run_id == bindparam("of_run"))
    .values(
        wanted_seq=bindparam("new_seq"),
        wake_at=due_at_once(threads),
    )
    .returning(threads.c.holder, is_due(threads))
)
# The row is locked where a database can, so that the lease can't change hands before the write.
_FENCE = select(threads.c.fence).where(threads.c.run_id == bindparam("of_run")).with_for_update()
_OF_KEY = (
    thread_messages.c.run_id == bindparam("of_run"),
    thread_messages.c.key == bindparam("of_key"),
)
_AT_ADDRESS = (
    thread_messages.c.run_id == bindparam("of_run"),
    thread_messages.c.address == bindparam("at_address"),
)
_TROUBLE = select(threads.c.trouble).where(threads.c.run_id == bindparam("of_run"))
_SET_TROUBLE = (
    update(threads)
    .where(threads.c.run_id == bindparam("of_run"))
    .values(trouble=bindparam("new_trouble"))
)
# One row a message, and one without where there is none.
_KNOWN = (
    select(
        threads.c.shown_seq,
        threads.c.trouble,
        threads.c.asked_for_at,
        *(column for column in thread_messages.c if column.name != "run_id"),
    )
    .select_from(threads.outerjoin(thread_messages))
    .where(threads.c.run_id == bindparam("of_run"))
)
_IS_UNDOUBTED = thread_messages.c.doubts == bindparam("seen_doubts")
_IS_ANNOUNCED = and_(
    thread_messages.c.doubts != bindparam("seen_doubts"),
    thread_messages.c.status == literal("editing"),
    bindparam("new_status", type_=Text) == literal("posted"),
)
_INSERT = insert(thread_messages)
_UPDATE = (
    update(thread_messages)
    .where(*_OF_KEY)
    .values(
        # Doubted since it was read: what was sent may have been overwritten, or may be yet.
        status=case((_IS_ANNOUNCED, "editing"), else_=bindparam("new_status")),
        address=bindparam("new_address"),
        attempted_at=case(
            (_IS_ANNOUNCED, thread_messages.c.attempted_at),
            else_=bindparam("new_attempted_at", type_=Instant),
        ),
        digest=case((_IS_UNDOUBTED, bindparam("new_digest")), else_=""),
    )
)
_DOUBT = (
    update(thread_messages).where(*_OF_KEY).values(digest="", doubts=thread_messages.c.doubts + 1)
)
_IS_POSTED = thread_messages.c.status == literal("posted")
_ANNOUNCE = (
    update(thread_messages)
    .where(*_AT_ADDRESS, thread_messages.c.status != "posting")
    .values(
        status="editing",
        # Of what may be on its way already, nobody will say more than is known now.
        attempted_at=case(
            (_IS_POSTED, bindparam("announced_at", type_=Instant)),
            else_=NOW,
        ),
        digest=case((_IS_POSTED, ANNOUNCED), else_=""),
        doubts=thread_messages.c.doubts + 1,
    )
)
# Of an edit that somebody has begun since, it is not known yet.
_IS_AS_ANNOUNCED = and_(
    thread_messages.c.status == literal("editing"),
    thread_messages.c.digest == literal(ANNOUNCED),
    thread_messages.c.attempted_at == bindparam("announced_at", type_=Instant),
)
_LANDED = (
    update(thread_messages)
    .where(*_AT_ADDRESS)
    .values(
        status=case((_IS_AS_ANNOUNCED, literal("posted")), else_=thread_messages.c.status),
        digest=case((_IS_AS_ANNOUNCED, bindparam("new_digest")), else_=""),
        doubts=thread_messages.c.doubts + 1,
    )
)
_LOST = (
    update(thread_messages)
    .where(*_AT_ADDRESS)
    .values(
        attempted_at=case(
            (thread_messages.c.status == literal("editing"), NOW),
            else_=thread_messages.c.attempted_at,
        ),
        digest="",
        doubts=thread_messages.c.doubts + 1,
    )
)
# Whoever holds a living lease finds when it lets go that somebody has called for it.
_DUE_NOW = (
    update(threads)
    .where(threads.c.run_id == bindparam("of_run"))
    .values(wake_at=due_at_once(threads), is_called_for=True)
)
_TRY_NOW = _DUE_NOW.values(asked_for_at=NOW)
_TO_BE_DRAWN = select(threads.c.run_id).where(threads.c.wake_at.is_not(None))
_DELETE = delete(thread_messages).where(*_OF_KEY)
_RUN_AT = (
    select(runs.c.run_id)
    .join(thread_messages, thread_messages.c.run_id == runs.c.run_id)
    .where(thread_messages.c.address == bindparam("at_address"))
    .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
    .limit(1)
)


def open_thread(
    connection: Connection,
    run_id: RunId,
    seq: int,
    now: datetime | None,
    root: ThreadMessage | None = None,
) -> None:
    """A run that is shown has begun, with so many facts: its thread is to be drawn, which ``root`` has opened, or
    somebody else has or will."""
    connection.execute(
        _INSERT_THREAD,
        {"run_id": run_id, "wanted_seq": seq, "shown_seq": 0, "now": now, "fence": 0},
    )
    if root is not None:
        connection.execute(_INSERT, _new(run_id, root))


def want(connection: Connection, run_id: RunId, seq: int, now: datetime | None) -> Behind | None:
    """The run has moved: its thread, if it has one, is behind."""
    values = {"of_run": run_id, "new_seq": seq, "now": now}
    row = connection.execute(_WANT, values).one_or_none()
    return None if row is None else Behind(row.holder, bool(row.is_due))


def announce(
    connection: Connection, run_id: RunId, address: str, at: datetime, now: datetime | None
) -> None:
    """Somebody is about to redraw the message at this address, if one is known to stand there."""
    values = {"of_run": run_id, "at_address": address, "announced_at": at, "now": now}
    connection.execute(_ANNOUNCE, values)


class SqlThreads:
    """The ``Threads`` port."""

    def __init__(
        self,
        writer: Writer,
        reader: Reader,
        clock: StoreClock,
        moved: Callable[[], None],
        keys: Keys,
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._moved = moved
        self._keys = keys

    async def known(self, run_id: RunId) -> KnownThread:
        return await self._reader.run(lambda c: _known(c, run_id))

    async def with_journal(self, run_id: RunId) -> tuple[KnownThread, list[Recorded]]:
        return await self._reader.run(
            lambda c: (_known(c, run_id), read_facts(c, run_id, self._keys))
        )

    async def trouble(self, run_id: RunId) -> str | None:
        return await self._reader.run(lambda c: c.execute(_TROUBLE, {"of_run": run_id}).scalar())

    async def set_trouble(self, lease: Lease, trouble: str | None) -> None:
        def work(connection: Connection) -> None:
            _must_hold(connection, lease)
            connection.execute(_SET_TROUBLE, {"of_run": lease.run_id, "new_trouble": trouble})

        await self._writer.run_until_known(work, of=of_thread(lease.run_id))

    async def save(self, lease: Lease, message: ThreadMessage) -> None:
        def work(connection: Connection) -> None:
            _must_hold(connection, lease)
            known = {"of_run": lease.run_id, "of_key": message.key, "seen_doubts": message.doubts}
            if connection.execute(_UPDATE, known | _columns(message, "new_")).rowcount == 0:
                connection.execute(_INSERT, _new(lease.run_id, message))

        await self._writer.run_until_known(work, of=of_thread(lease.run_id))

    async def forget(self, lease: Lease, key: str) -> None:
        def work(connection: Connection) -> None:
            _must_hold(connection, lease)
            connection.execute(_DELETE, {"of_run": lease.run_id, "of_key": key})

        await self._writer.run_until_known(work, of=of_thread(lease.run_id))

    async def doubt(self, run_id: RunId, key: str) -> None:
        await self._call_for(run_id, _DOUBT, {"of_key": key})

    async def announce(self, run_id: RunId, address: str) -> datetime | None:
        at = self._clock.now()
        of = {"at_address": address, "announced_at": at}
        return at if await self._call_for(run_id, _ANNOUNCE, of) else None

    async def landed(
        self, run_id: RunId, address: str, announced_at: datetime, digest: str
    ) -> None:
        of = {"at_address": address, "announced_at": announced_at, "new_digest": digest}
        await self._call_for(run_id, _LANDED, of)

    async def lost(self, run_id: RunId, address: str) -> None:
        await self._call_for(run_id, _LOST, {"at_address": address})

    async def _call_for(self, run_id: RunId, change: Update, of: Mapping[str, object]) -> bool:
        """Change a message without a lease, and have its thread drawn. False where there is no such message."""

        def work(connection: Connection) -> bool:
            known = {"of_run": run_id, "now": self._clock.told()}
            # As whoever saves a message does: the thread first, then the message.
            connection.execute(_FENCE, {"of_run": run_id})
            is_there = connection.execute(change, {**known, **of}).rowcount > 0
            if is_there:
                connection.execute(_DUE_NOW, known)
                stir(connection)
            return is_there

        is_there = await self._writer.run(work, of=of_thread(run_id))
        self._moved()
        return is_there

    async def try_now(self, run_id: RunId) -> None:
        def work(connection: Connection) -> None:
            connection.execute(_TRY_NOW, {"of_run": run_id, "now": self._clock.told()})
            stir(connection)

        await self._writer.run(work, of=of_thread(run_id))
        self._moved()

    async def to_be_drawn(self) -> list[RunId]:
        found = await self._reader.run(lambda c: c.execute(_TO_BE_DRAWN).scalars().all())
        return [RunId(run_id) for run_id in found]

    async def run_at(self, address: str) -> RunId | None:
        try:
            found = await self._reader.run(
                lambda c: c.execute(_RUN_AT, {"at_address": address}).scalar()
            )
        except Unstorable:
            return None
        return None if found is None else RunId(found)


def _must_hold(connection: Connection, lease: Lease) -> None:
    if connection.execute(_FENCE, {"of_run": lease.run_id}).scalar() != lease.fence:
        raise LeaseLost(lease.run_id, lease.fence)


def _known(connection: Connection, run_id: RunId) -> KnownThread:
    rows = connection.execute(_KNOWN, {"of_run": run_id}).all()
    if not rows:
        return KnownThread({})
    messages = {row.key: _message(row) for row in rows if row.key is not None}
    return KnownThread(messages, rows[0].shown_seq, rows[0].trouble, rows[0].asked_for_at)


def _message(row: Row[tuple[object, ...]]) -> ThreadMessage:
    return ThreadMessage(row.key, row.status, row.address, row.digest, row.attempted_at, row.doubts)


def _new(run_id: RunId, message: ThreadMessage) -> dict[str, object]:
    return {"run_id": run_id, "key": message.key, "doubts": 0} | _columns(message)


def _columns(message: ThreadMessage, prefix: str = "") -> dict[str, object]:
    return {
        f"{prefix}status": message.status,
        f"{prefix}address": message.address,
        f"{prefix}digest": message.digest,
        f"{prefix}attempted_at": message.attempted_at,
    }
