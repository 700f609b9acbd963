"""Which keys the facts are kept with: what the tables know of them, without the keys themselves.

Whoever opens the store has to have every key in use, and proves it. A new key is taken into use by whoever comes with
it first, and only while every living process has it, so that nobody meets what it can't read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from agent.engine.new_ids import UuidIds
from agent.errors import ConfigError, SchemaRefused
from agent.rules.control import KeyChanged, StampedControl
from agent.rules.ids import EventId
from store.bodies import write_control_body
from store.chain import is_keyed
from store.cipher import SETTING, Key
from store.clock import StoreClock
from store.control import append_facts
from store.instants import microseconds
from store.keys import AUDIT_SETTING, Keys, is_same, prove, prove_audit
from store.late_keys import BODIES, look_again
from store.marks import is_audit_key, seal_marks
from store.migrations.floor import LIVES_FOR, raise_floor
from store.now import A_TERM_AGO, NOW
from store.schema import control_head, keys, processes, rewriting

log = logging.getLogger(__name__)

#: The step that made the tables of this; builds that know less must not run where anything is kept with a key.
SINCE = "0010"
#: The kinds of keys; of the second there is one, which has the same word for an id.
ENCRYPTION, AUDIT = "encryption", "audit"
#: What a process has that says nothing of its keys.
_WITHOUT: Mapping[str, Any] = {ENCRYPTION: (), AUDIT: False}
#: What is gone through when a key is taken into use.
MARKS = ("marks",)
_WHY = "a key is to be taken into use, and builds before step {revision} could not read what is written with it"

_ALL = select(keys).order_by(keys.c.place)
_HIGHEST = select(func.coalesce(func.max(keys.c.place), 0))
_INSERT = insert(keys).values(in_use_since=NOW, is_in_use=True)
_RETIRE = (
    update(keys)
    .where(
        keys.c.kind == ENCRYPTION,
        keys.c.key_id == bindparam("of_key"),
        keys.c.is_in_use.is_(True),
    )
    .values(is_in_use=False)
)
_FORGET = delete(rewriting).where(rewriting.c.kind == bindparam("of_kind"))
_BEGIN = insert(rewriting).values(journal="", seq=0, found=0, fence=0)
_LIVE = (
    select(processes.c.process_id, processes.c.held_keys)
    .where(processes.c.beat_at > A_TERM_AGO)
    .order_by(processes.c.process_id)
)
_PROCESS_IDS = select(processes.c.process_id)
_CONTROL_HEAD = select(control_head.c.head_hash)
_NO_AUDIT_KEY = (
    f"{AUDIT_SETTING} is not set, and the chains of this database take an audit key. Nothing was changed. Put it"
    " in."
)


def process_ids(connection: Connection) -> list[str]:
    """Of every process that there is a row of, dead or alive."""
    return list(connection.execute(_PROCESS_IDS).scalars())


def said_of(held: Keys) -> str | None:
    """What a process says of its keys in its row."""
    if not held.encryption and held.audit is None:
        return None
    return json.dumps({ENCRYPTION: held.ids, AUDIT: held.audit is not None})


def must_have(connection: Connection, held: Keys) -> None:
    """Every key in use has to be there, and be the right one. Raises ``ConfigError``; nothing is written."""
    ours = {key.id: key for key in held.encryption}
    rows = connection.execute(_ALL).all()
    if held.audit is None and is_keyed(connection.execute(_CONTROL_HEAD).scalar()):
        # Whoever deletes the key's row has not taken the key out of the chain.
        raise ConfigError(_NO_AUDIT_KEY)
    for row in rows:
        if row.kind == AUDIT:
            _must_be_audit(held.audit, row.proof)
        elif row.key_id in ours:
            _must_be(ours[row.key_id], row.proof)
        elif row.is_in_use:
            raise ConfigError(
                f"{SETTING} {'does not hold' if ours else 'is not set, and lacks'} the key {row.key_id}, with which"
                " facts in the database are encrypted. Nothing was changed. Put it in, behind the newest key;"
                " `pilothouse keys status` says when nothing needs it any more."
            )


def in_order(connection: Connection, held: Keys) -> Keys:
    """The keys as they are to be used: where the database knows the one in front, and has a newer one that is here,
    too, that one writes. Somebody forgot to change the order, or to change it in this place."""
    rows = [row for row in connection.execute(_ALL) if row.kind == ENCRYPTION]
    newest = next((row.key_id for row in reversed(rows) if row.is_in_use), None)
    first = held.cipher.newest
    if newest is None or newest == first or newest not in held.ids:
        return held
    if first not in {row.key_id for row in rows}:
        return held  # it is a new one, which is taken into use
    log.warning(
        "%s has the key %s in front, and the newest of the database is %s, which whatever is written takes."
        " Put %s in front",
        *(SETTING, first, newest, newest),
    )
    return held.with_newest(newest)


def as_in_use(connection: Connection, held: Keys) -> Keys:
    """The keys for whoever takes none into use: by an audit key that is new nothing has been chained."""
    rows = connection.execute(_ALL).all()
    known = {row.key_id for row in rows if row.kind == ENCRYPTION}
    newest = held.cipher.newest
    held = replace(held, new_key=None if newest in known else newest)
    if held.audit is None or any(row.kind == AUDIT for row in rows):
        return held
    if is_keyed(connection.execute(_CONTROL_HEAD).scalar()):
        return held  # only its row was lost
    return replace(held, audit=None, has_new_audit=True)


def brings_new(connection: Connection, held: Keys) -> bool:
    """Is something of this still to be said to the tables: a key that is new, or one that is not the newest?"""
    rows = [row for row in connection.execute(_ALL) if row.is_in_use]
    newest = next((row.key_id for row in reversed(rows) if row.kind == ENCRYPTION), None)
    has_audit = any(row.kind == AUDIT for row in rows)
    return held.cipher.newest != newest or (held.audit is not None and not has_audit)


def take_into_use(
    connection: Connection,
    held: Keys,
    clock: StoreClock,
    dead: Collection[str],
    lock: Callable[[Connection], None],
) -> None:
    """Register what is new of them, one process at a time (``lock``), with its facts in the control journal.

    Raises ``ConfigError``, ``SchemaRefused`` while a process lives that does without."""
    lock(connection)
    must_have(connection, held)
    rows = list(connection.execute(_ALL))
    is_first_audit = held.audit is not None and not any(row.kind == AUDIT for row in rows)
    known = {row.key_id for row in rows if row.kind == ENCRYPTION}
    newest = held.encryption[0] if held.encryption else None
    if is_first_audit:
        _must_be_everybodys(connection, None, clock, dead)
        _register_audit(connection, held, clock)
    if newest is None:
        return
    if newest.id in known:
        # Whoever writes with an older key leaves something to be rewritten behind whoever looks for it.
        look_again(connection)
        return
    _must_be_everybodys(connection, newest.id, clock, dead)
    _insert(connection, ENCRYPTION, newest.id, prove(newest), clock)
    for kind in BODIES:
        _begin(connection, kind, newest.id, is_done=False)
    _tell(connection, held, clock, "in_use", newest.id)


def retire_older(
    connection: Connection, held: Keys, clock: StoreClock, dead: Collection[str]
) -> list[str]:
    """Nothing is kept with any other key than the newest: those may go, unless a living process still writes with
    one. Which these are."""
    rows = [row for row in connection.execute(_ALL) if row.is_in_use and row.kind == ENCRYPTION]
    older = [row.key_id for row in rows[:-1]]
    if not rows or rows[-1].key_id != held.cipher.newest:
        return []
    if not is_written_by_all(connection, held, clock, dead):
        return []
    # Another process may do so at the same time: whoever comes second finds it done.
    retired = [
        key_id for key_id in older if connection.execute(_RETIRE, {"of_key": key_id}).rowcount
    ]
    for key_id in retired:
        _tell(connection, held, clock, "retired", key_id)
    return retired


def is_written_by_all(
    connection: Connection, held: Keys, clock: StoreClock, dead: Collection[str]
) -> bool:
    """Does every living process write with our newest key?"""
    living = _living(connection, clock, dead)
    return all(next(iter(one[ENCRYPTION]), None) == held.cipher.newest for _, one in living)


def _must_be(key: Key, proof: object) -> None:
    if not is_same(prove(key), proof):
        raise ConfigError(
            f"{SETTING} holds another key by the id {key.id} than the database has been encrypted with. Nothing"
            " was changed. Put the right one in; a new key takes a new id."
        )


def _must_be_audit(audit: bytes | None, proof: object) -> None:
    if audit is None:
        raise ConfigError(_NO_AUDIT_KEY)
    if not is_audit_key(audit, proof):
        raise ConfigError(
            f"{AUDIT_SETTING} is another key than the chains of this database take. Nothing was changed. Put"
            " the right one in: it can't be changed."
        )


def _must_be_everybodys(
    connection: Connection, key_id: str | None, clock: StoreClock, dead: Collection[str]
) -> None:
    """``key_id``: of an encryption key; None for the audit key."""
    raise_floor(connection, SINCE, _WHY.format(revision=SINCE))
    lacking = {
        process_id: held[ENCRYPTION]
        for process_id, held in _living(connection, clock, dead)
        if not (held[AUDIT] if key_id is None else key_id in held[ENCRYPTION])
    }
    if not lacking:
        return
    which = "The audit key" if key_id is None else f"The key {key_id}"
    how = (
        "Stop them first, then start all with it."
        # Who has no key at all can be given none beside it.
        if key_id is None or not all(lacking.values())
        else "Stop them first, then start all with it; or, to go on meanwhile, start all with it behind the key"
        " that they have, then all with it in front."
    )
    raise SchemaRefused(
        f"{which} was not taken into use: without it these processes could read nothing that is written with"
        f" it: {', '.join(lacking)}. Nothing was changed. {how}"
    )


def _living(
    connection: Connection, clock: StoreClock, dead: Collection[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    """What each process that may be alive said of its keys."""
    values = {"now": clock.told(), "term": microseconds(LIVES_FOR)}
    return [
        (process_id, _read(said))
        for process_id, said in connection.execute(_LIVE, values)
        if process_id not in dead
    ]


def _read(said: object) -> Mapping[str, Any]:
    """What is no word of ours says that a process has nothing: then no key is taken into use without it."""
    try:
        found = json.loads(said) if isinstance(said, str) else _WITHOUT
    except ValueError:
        return _WITHOUT
    if not isinstance(found, dict) or not isinstance(found.get(ENCRYPTION), list):
        return _WITHOUT
    return found if isinstance(found.get(AUDIT), bool) else _WITHOUT


def _register_audit(connection: Connection, held: Keys, clock: StoreClock) -> None:
    assert held.audit is not None, "there is one to be registered"
    was_lost = is_keyed(connection.execute(_CONTROL_HEAD).scalar_one())
    # First of all: from the key's row on nothing is appended behind what does not take it.
    _tell(connection, held, clock, "in_use", None)
    log.warning(
        "the audit key is in use from now on: what was written before it is as good as it was then"
    )
    _insert(connection, AUDIT, AUDIT, prove_audit(held.audit), clock)
    for kind in MARKS:
        _begin(connection, kind, AUDIT, is_done=was_lost)
    if was_lost:
        # Where the chain already takes it, only this table was lost: what ended without it was marked long ago, and
        # what has no mark by now must not get one.
        seal_marks(connection, held.audit)


def _insert(connection: Connection, kind: str, key_id: str, proof: str, clock: StoreClock) -> None:
    place = connection.execute(_HIGHEST).scalar_one() + 1
    values = {"kind": kind, "key_id": key_id, "proof": proof, "place": place, "now": clock.told()}
    connection.execute(_INSERT, values)


def _begin(connection: Connection, kind: str, key_id: str, *, is_done: bool) -> None:
    connection.execute(_FORGET, {"of_kind": kind})
    connection.execute(_BEGIN, {"kind": kind, "key_id": key_id, "is_done": is_done})


def _tell(
    connection: Connection,
    held: Keys,
    clock: StoreClock,
    change: Literal["in_use", "retired"],
    key_id: str | None,
) -> None:
    event = KeyChanged(change=change, key_id=key_id)
    stamped = StampedControl(EventId(UuidIds().new("evt")), clock.now(), event)
    append_facts(connection, [write_control_body(stamped, held)])
