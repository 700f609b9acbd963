"""``db sizes`` and ``db purge``, and what every command says of what was removed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import bot.demo
from tests.cli.conftest import CommandLine
from tests.store.tampering import age

PAYLOADS, ALL = "{payloads: 30d}", "{payloads: 30d, transcripts: 90d, audit: 700d}"


@pytest.fixture(autouse=True)
def retention(pilothouse: CommandLine) -> None:
    keep(pilothouse, PAYLOADS)


def keep(pilothouse: CommandLine, retention: str) -> None:
    """The demo's file, with limits."""
    demo = Path(bot.demo.__file__).parent / "pilothouse.yml"
    file = pilothouse.folder / "with_limits.yml"
    file.write_text(f"{demo.read_text()}\nretention: {retention}\n")
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(file)


def test_what_is_kept_long_enough_goes_and_every_command_says_so(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    assert pilothouse.inside("approve", approval, "--note", "fine").code == 0
    waiting, _ = pilothouse.ask("refund ORD-7 200")
    assert pilothouse.inside("db", "purge").out == "Nothing is old enough to be removed.\n"

    age(f"sqlite:///{pilothouse.folder / 'data' / 'pilothouse.db'}", timedelta(days=800))
    anchor = str(pilothouse.folder / "anchor.json")
    assert pilothouse.inside("verify", "--anchor", anchor).code == 0
    assert pilothouse.inside("db", "sizes").lines[-1] == (
        "due now   payloads of 1 run (some may be needed still)"
    )
    dry = pilothouse.inside("db", "purge", "--dry-run")
    assert dry.out == "Would remove: payloads of 1 run.\n"
    assert pilothouse.inside("db", "purge").out == "Removed: payloads of 1 run.\n"
    shown = pilothouse.inside("show", run)
    assert "refund ORD-3300 180" in shown.out
    assert "fine" in shown.out
    assert shown.lines[-1].startswith("removed    payloads, on ")
    removed = pilothouse.inside("show", run, "--json").json["removed"]
    assert (removed["what"], removed["rule"]) == (
        "payloads",
        "payloads: 30 d after it was finished",
    )
    for command in (("replay", run), ("fork", run, "--at", "5")):
        ended = pilothouse.inside(*command)
        assert (ended.code, ended.out) == (1, "")
        assert "have been removed" in ended.err
    assert pilothouse.inside("watch", run).lines[-1].startswith("finished: ")
    assert pilothouse.inside("db", "check").code == 0

    keep(pilothouse, ALL)
    ended = pilothouse.inside("db", "purge", "--json")
    assert ended.json == {"dry_run": False, "removed": {"audit": 1}, "kept": {}}
    for command in (
        ("show", run),
        ("journal", run),
        ("watch", run),
        ("replay", run),
        ("fork", run, "--at", "5"),
        ("stop", run),
        ("approve", approval),
    ):
        ended = pilothouse.inside(*command)
        assert (ended.code, ended.out) == (1, ""), command
        assert ended.err.startswith(f"{run} was removed on "), command
    one = pilothouse.inside("verify", run)
    assert one.code == 0
    assert "it had 14 facts, last hash " in one.lines[-1]
    checked = pilothouse.inside("verify", "--anchor", anchor, "--json")
    assert (checked.code, checked.json["whole"], checked.json["purged"]) == (0, True, 1)
    assert checked.json["anchor"]["removed_since"] == 1
    assert "Removed since then, as the control journal says: something of 1 run." in (
        pilothouse.inside("verify", "--anchor", anchor).out
    )
    assert [one["id"] for one in pilothouse.inside("runs", "--json").json] == [waiting]
    sizes = pilothouse.inside("db", "sizes", "--json").json
    assert (sizes["runs"], sizes["removed"]["audit"]) == ({"active": 1}, 1)
    assert not any(sizes["due"].values())
    assert "runs_purged" in pilothouse.inside("journal", "--control").out


def test_without_limits_nothing_goes(pilothouse: CommandLine) -> None:
    del pilothouse.settings["PILOTHOUSE_CONFIG"]
    assert pilothouse.inside("db", "upgrade").code == 0
    assert pilothouse.inside("db", "purge").out == (
        "There is no retention in pilothouse.yml: everything is kept.\n"
    )
    assert pilothouse.inside("db", "sizes").lines[-1].startswith("There is no retention")
