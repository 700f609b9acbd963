"""Commands that only look make nothing and change nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import CommandLine

#: And what they say of nothing.
LISTS = {
    ("runs",): 'No runs yet. Start one: pilothouse run "TEXT"\n',
    ("unfinished",): "No run is unfinished.\n",
    ("approvals",): "Nothing waits for anybody.\n",
    ("approvals", "--all"): "Nobody was ever asked.\n",
    ("grants",): "No grant holds.\n",
}
LOOKS = [
    ("show", "RUN"),
    ("watch", "RUN", "--no-follow"),
    ("journal", "RUN"),
    ("journal", "--control"),
    ("receipt", "op_1"),
    ("replay", "RUN"),
    ("verify",),
    ("kill-switch", "status"),
    ("db", "sizes"),
    ("db", "purge", "--dry-run"),
    ("keys", "status"),
    ("policy", "test"),
]

#: They need something that is there, and change it.
WORK = [
    ("approve", "apr_1"),
    ("deny", "apr_1"),
    ("hold", "RUN"),
    ("stop", "RUN"),
    ("resume", "RUN"),
    ("retry", "RUN"),
    ("recover",),
    ("kill-switch", "on", "all", "no reason"),
    ("db", "purge"),
    ("keys", "rotate"),
]


def dump(pilothouse: CommandLine) -> list[str]:
    with closing(sqlite3.connect(pilothouse.folder / "data" / "pilothouse.db")) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize("arguments", [*LOOKS, *WORK], ids=" ".join)
def test_where_there_is_no_store_it_is_said_and_none_is_made(
    pilothouse: CommandLine, arguments: tuple[str, ...]
) -> None:
    ended = pilothouse.inside(*arguments)
    path = pilothouse.folder / "data" / "pilothouse.db"
    assert (ended.code, ended.out) == (2, "")
    assert f"There is no store at {path}, and none was made." in ended.err
    assert not path.exists()
    assert not path.parent.exists()


@pytest.mark.parametrize("arguments", LISTS, ids=" ".join)
def test_a_list_is_empty_where_there_is_no_store_and_none_is_made(
    pilothouse: CommandLine, arguments: tuple[str, ...]
) -> None:
    path = pilothouse.folder / "data" / "pilothouse.db"
    for form, said in ((), LISTS[arguments]), (("--json",), "[]\n"):
        ended = pilothouse.inside(*arguments, *form)
        assert (ended.code, ended.out) == (0, said)
        assert f"There is no store at {path}, and none was made." in ended.err
    assert not path.parent.exists()


def test_a_file_without_tables_is_left_so(pilothouse: CommandLine) -> None:
    path = pilothouse.folder / "data" / "pilothouse.db"
    path.parent.mkdir()
    path.touch()
    assert pilothouse.inside("verify").code == 2
    assert dump(pilothouse) == ["BEGIN TRANSACTION;", "COMMIT;"]


def test_no_look_changes_anything_or_takes_a_key_into_use(pilothouse: CommandLine) -> None:
    run, _ = pilothouse.ask("refund ORD-3300 180")
    new = pilothouse.inside("keys", "new", "--id", "2026").lines[0]
    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = new
    pilothouse.settings["PILOTHOUSE_AUDIT_KEY"] = pilothouse.inside("keys", "new").lines[0]
    before = dump(pilothouse)
    for arguments in (*LISTS, *LOOKS, ("db", "check")):
        ended = pilothouse.inside(*(run if one == "RUN" else one for one in arguments))
        assert ended.code == (2 if arguments[0] == "receipt" else 0), ended.err
        assert dump(pilothouse) == before, arguments
    lines = pilothouse.inside("keys", "status").lines
    takes = "a bot that starts with it takes it into use, and so does `pilothouse keys rotate`."
    assert f"The key 2026 is not in use yet: {takes}" in lines
    assert f"The audit key is not in use yet: {takes}" in lines
    assert pilothouse.inside("keys", "rotate").code == 0
    shape = pilothouse.inside("keys", "status", "--json").json
    assert (shape["not_in_use"], shape["audit_key_not_in_use"]) == (None, False)
    assert (shape["clear"], shape["audit_key"]) == (0, True)
