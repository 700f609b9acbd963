"""``db upgrade`` and ``db check``, in words; what they rest on is tested with the store."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from store.migrations import HEAD
from tests.cli.conftest import CommandLine
from tests.store.database import make_database

FINE = [
    f"The tables are at step {HEAD}; this build (0.1.0) knows steps up to {HEAD}.",
    "Builds that know step 0001 may run here.",
    "What is kept beside the journals says what they say.",
]


def change(pilothouse: CommandLine, statement: str) -> None:
    path = pilothouse.folder / "data" / "pilothouse.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_where_there_is_no_database_check_makes_none_and_upgrade_does(
    pilothouse: CommandLine,
) -> None:
    ended = pilothouse.inside("db", "check")
    assert ended.code == 1
    assert ended.out.startswith("There are no tables yet;")
    assert ended.out.endswith("To make them: pilothouse db upgrade\n")
    assert not (pilothouse.folder / "data" / "pilothouse.db").exists()
    ended = pilothouse.inside("db", "upgrade")
    assert (ended.code, ended.lines) == (0, [f"The tables were made; they are at step {HEAD}."])
    ended = pilothouse.inside("db", "check")
    assert (ended.code, ended.lines) == (0, FINE)


def test_an_older_database_is_brought_up_to_date_once(pilothouse: CommandLine) -> None:
    data = pilothouse.folder / "data"
    data.mkdir()
    make_database(f"sqlite:///{data / 'pilothouse.db'}", "0003")
    ended = pilothouse.inside("db", "check")
    steps = ", ".join(f"{number:04}" for number in range(4, int(HEAD) + 1))
    assert (ended.code, ended.lines[2]) == (
        1,
        f"Not taken yet: {steps}. To take them: pilothouse db upgrade",
    )
    assert pilothouse.inside("db", "upgrade", "--json").json == {"before": "0003", "after": HEAD}
    ended = pilothouse.inside("db", "upgrade")
    assert (ended.code, ended.lines) == (0, [f"Nothing was to do: the tables are at step {HEAD}."])


def test_a_difference_is_named_and_ends_with_1(pilothouse: CommandLine) -> None:
    pilothouse.inside("db", "upgrade")
    change(pilothouse, "INSERT INTO limits (limit_key, used) VALUES ('a', '1')")
    ended = pilothouse.inside("db", "check")
    assert (ended.code, ended.lines[2:4]) == (
        1,
        [
            "What is kept beside the journals says something else:",
            "limit a: 1 is said to be used, 0 is reserved",
        ],
    )
    assert "pilothouse recover" in ended.lines[-1]


def test_a_build_that_is_too_old_says_so_in_one_line_whatever_it_is_asked(
    pilothouse: CommandLine,
) -> None:
    pilothouse.inside("db", "upgrade")
    change(pilothouse, "UPDATE schema_floor SET must_know = '9999'")
    ended = pilothouse.inside("db", "check")
    assert (ended.code, ended.lines[-1]) == (1, "This one may not: start a newer build.")
    assert pilothouse.inside("db", "check", "--json").json["may_run"] is False
    for command in (("db", "upgrade"), ("runs",)):
        ended = pilothouse.inside(*command)
        assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert "must know step 9999" in ended.err


def test_a_database_that_does_not_say_who_may_run_lets_nobody(pilothouse: CommandLine) -> None:
    pilothouse.inside("db", "upgrade")
    change(pilothouse, "DELETE FROM schema_floor")
    ended = pilothouse.inside("db", "check")
    assert (ended.code, ended.lines[0]) == (1, FINE[0])
    assert ended.lines[1].startswith("No build may run here:")
    assert pilothouse.inside("db", "check", "--json").json["must_know"] is None
    ended = pilothouse.inside("runs")
    assert (ended.code, ended.out) == (1, "")
    assert "INSERT INTO schema_floor" in ended.err


def test_a_database_that_is_newer_and_lets_this_build_run_is_fine(pilothouse: CommandLine) -> None:
    pilothouse.inside("db", "upgrade")
    change(pilothouse, "UPDATE alembic_version SET version_num = '9999'")
    ended = pilothouse.inside("db", "check")
    assert (ended.code, ended.lines[0]) == (0, FINE[0].replace(f"at step {HEAD}", "at step 9999"))


def test_a_database_that_is_none_says_so(pilothouse: CommandLine) -> None:
    pilothouse.settings["PILOTHOUSE_DATABASE_URL"] = "mysql://u:secret@h/d"
    for command in ("check", "upgrade"):
        ended = pilothouse.inside("db", command)
        assert ended.code == 2
        assert "no store on mysql" in ended.err
        assert "secret" not in ended.err
