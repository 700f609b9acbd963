"""The tables apart from their use: ``db upgrade``, ``db check``, and what they rest on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SchemaRefused
from agent.ports import Process
from store import SqlStore, checking, migrations, open_store
from store.migrations.floor import admit, raise_floor
from store.schema import FORMAT
from store.upgrading import Tables, read_tables, upgrade
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite, without_tables
from tests.store.database import ask, make_database, path_of
from tests.store.limits import Worked, of_limit
from tests.store.outside import in_transaction

REPOSITORY = Path(__file__).parents[2]
HEAD = migrations.HEAD
DONE = Tables(HEAD, "0001", HEAD, ())
#: As a build of 0003 made itself known; by the clock of a host, which is the database's.
OLD_PROCESS = (
    "INSERT INTO processes (process_id, build, agents, does_work, draws, beat_at, has_lock)"
    " VALUES ('p_old', '0.1.0', '[]', true, true, {}, false)"
)
NOW = {
    True: "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)",
    False: "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
}


def join_as_old(url: str, minutes_ago: int = 0) -> None:
    now = NOW[url.startswith("sqlite")]
    ask(url, OLD_PROCESS.format(f"{now} - {minutes_ago * 60_000_000}"))


async def command(folder: Path, url: str, *words: str) -> tuple[int, str]:
    """A command of ``pilothouse db``, in a process and a folder of its own."""
    ours = ("PILOTHOUSE_", "SLACK_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    settings = {"PILOTHOUSE_DATABASE_URL": url, "PILOTHOUSE_DATA": str(folder / "data")}
    settings["PYTHONPATH"] = str(REPOSITORY)
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "db", *words),
        cwd=folder,
        env=kept | settings,
        stdout=PIPE,
        stderr=PIPE,
    )
    out, err = await child.communicate()
    assert b"Traceback" not in err, err.decode()
    assert child.returncode is not None
    return child.returncode, (out + err).decode()


@without_tables
async def test_tables_that_are_not_there_are_made_once(url: str) -> None:
    none = Tables(None, "0001", HEAD, tuple(f"{n:04}" for n in range(1, int(HEAD) + 1)))
    assert await read_tables(url) == none
    assert await upgrade(url) == (none, DONE)
    assert await upgrade(url) == (DONE, DONE)


@on_sqlite
async def test_a_look_at_a_file_that_is_not_there_makes_none(url: str) -> None:
    other = Path(path_of(url)).with_name("other.db")
    await read_tables(f"sqlite:///{other}")
    assert not other.exists()


@without_tables
@pytest.mark.parametrize("step", ["0001", "0003"])
async def test_tables_of_before_lack_the_steps_since_and_get_them(url: str, step: str) -> None:
    make_database(url, step)
    tables = await read_tables(url)
    assert (tables.step, tables.pending[0], tables.pending[-1]) == (
        step,
        f"{int(step) + 1:04}",
        HEAD,
    )
    assert ask(url, "SELECT version_num FROM alembic_version") == [(step,)], (
        "a look changes nothing"
    )
    _, after = await upgrade(url)
    assert after == DONE


@without_tables
async def test_four_that_upgrade_at_once_take_each_step_once(url: str) -> None:
    make_database(url, "0003")
    for _, after in await asyncio.gather(*(upgrade(url) for _ in range(4))):
        assert after == DONE


async def test_a_build_that_the_tables_are_too_new_for_is_refused_and_told_what_to_do(
    store: SqlStore, url: str
) -> None:
    ask(url, "UPDATE schema_floor SET must_know = '9999'")
    with pytest.raises(SchemaRefused, match=f"up to step {HEAD}.* know step 9999.* newer build"):
        await open_store(url)
    tables = await read_tables(url)
    assert (tables.must_know, tables.may_run) == ("9999", False)
    with pytest.raises(SchemaRefused):
        await upgrade(url)
    with pytest.raises(SchemaRefused):
        await store.processes.join(Process("p1", "test", (), False, False))
    assert await store.processes.alive(migrations.floor.LIVES_FOR) == []


async def test_a_build_that_is_older_than_the_tables_and_may_still_run_does_run(
    store: SqlStore, open_another: OpenAnother, url: str
) -> None:
    ask(url, "UPDATE alembic_version SET version_num = '9999'")
    await open_another()
    assert await read_tables(url) == Tables("9999", "0001", HEAD, ())
    assert await checking.differences(store) == []


async def test_a_floor_that_was_lost_lets_nobody_in_until_it_is_put_back(
    store: SqlStore, open_another: OpenAnother, url: str
) -> None:
    ask(url, "DELETE FROM schema_floor")
    tables = await read_tables(url)
    assert (tables.must_know, tables.may_run) == (None, False)
    with pytest.raises(SchemaRefused, match="is gone from schema_floor") as refused:
        await open_another()
    with pytest.raises(SchemaRefused, match="is gone"):
        await store.processes.join(Process("p1", "test", (), False, False))
    with pytest.raises(SchemaRefused, match="is gone"):
        in_transaction(url, lambda c: raise_floor(c, HEAD))
    ask(url, "INSERT" + str(refused.value).split("INSERT")[1])
    await open_another()
    assert (await read_tables(url)).must_know == HEAD


async def test_nothing_is_taken_away_while_a_build_lives_that_needs_it(
    store: SqlStore, url: str
) -> None:
    join_as_old(url)
    with pytest.raises(
        SchemaRefused, match=r"before step 0004 need.*p_old \(build 0.1.0, step 0003\)"
    ):
        in_transaction(url, lambda c: raise_floor(c, "0004"))
    assert (await read_tables(url)).must_know == "0001"
    ask(url, "UPDATE processes SET schema = '0004'")
    in_transaction(url, lambda c: raise_floor(c, "0004"))
    assert (await read_tables(url)).must_know == "0004"
    in_transaction(url, lambda c: raise_floor(c, "0002"))
    assert (await read_tables(url)).must_know == "0004", "it is never lowered"


async def test_one_that_was_killed_long_ago_stands_in_nobodys_way(
    store: SqlStore, url: str
) -> None:
    join_as_old(url, minutes_ago=9)
    with pytest.raises(SchemaRefused):
        in_transaction(url, lambda c: raise_floor(c, "0004"))
    ask(url, "DELETE FROM processes")
    join_as_old(url, minutes_ago=11)
    in_transaction(url, lambda c: raise_floor(c, "0004"))


async def test_a_process_says_which_step_it_knows(open_another: OpenAnother, url: str) -> None:
    store = await open_another(clock=None)
    await store.processes.join(Process("p1", "test", (), False, False))
    assert ask(url, "SELECT schema, form FROM processes") == [(HEAD, FORMAT)]
    with pytest.raises(SchemaRefused, match=f"p1.*step {HEAD}"):
        in_transaction(url, lambda c: raise_floor(c, "9999"))
    in_transaction(url, lambda c: raise_floor(c, HEAD))
    in_transaction(url, lambda c: admit(c, HEAD))


async def test_what_differs_from_the_journals_is_listed(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    ask(url, "DELETE FROM limits")
    ask(url, "INSERT INTO switches (switch, is_on, turned_seq) VALUES ('kill', true, 1)")
    switch, limit = await checking.differences(store)
    assert switch == "switch kill: no fact says that there is one"
    assert limit.startswith("limit refunds a day: 0 is said")
    ask(url, "DELETE FROM control_head")
    unread, _ = await checking.differences(store)
    assert unread.startswith("grants and switches could not be compared: ")


@without_tables
async def test_the_commands_upgrade_and_check_whatever_database_there_is(
    url: str, tmp_path: Path
) -> None:
    make_database(url, "0003")
    assert await command(tmp_path, url, "upgrade") == (
        0,
        f"The tables are at step {HEAD}; they were at 0003.\n",
    )
    ask(url, "INSERT INTO limits (limit_key, used) VALUES ('a', '1')")
    code, said = await command(tmp_path, url, "check", "--json")
    checked: dict[str, Any] = json.loads(said)
    assert (code, checked["step"], checked["may_run"]) == (1, HEAD, True)
    assert checked["differences"] == ["limit a: 1 is said to be used, 0 is reserved"]


async def test_who_was_stopped_for_longer_than_that_is_refused_when_it_goes_on(
    store: SqlStore, url: str
) -> None:
    await store.processes.join(Process("p_old", "1", (), True, False))
    beat_at = f"{NOW[url.startswith('sqlite')]} - {11 * 60_000_000}"
    ask(url, f"UPDATE processes SET beat_at = {beat_at}")
    in_transaction(url, lambda c: raise_floor(c, "9999"))
    with pytest.raises(SchemaRefused, match="9999"):
        await store.processes.beat("p_old")


async def test_tables_whose_step_was_lost_are_not_taken_for_none(store: SqlStore, url: str) -> None:
    ask(url, "DELETE FROM alembic_version")
    with pytest.raises(SchemaRefused, match="alembic_version"):
        await read_tables(url)
    with pytest.raises(SchemaRefused, match="alembic_version"):
        await open_store(url)
