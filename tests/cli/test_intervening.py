"""``hold``, ``resume`` and ``stop``: by the real command, exit codes taken literally."""

from __future__ import annotations

import pytest

from tests.cli.conftest import CommandLine


class TestHold:
    def test_nothing_begins_until_it_is_resumed(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        held = pilothouse.inside("hold", run, "--reason", "wait for legal")
        assert held.code == 0
        (line,) = held.lines
        assert line.startswith("HELD by cli:")
        assert line.endswith(": wait for legal")
        assert f"pilothouse resume {run}" in held.err
        approved = pilothouse.inside("approve", approval)
        assert approved.code == 3
        assert pilothouse.ledger == {}
        shown = pilothouse.inside("show", run).out
        assert "process_refund: approved, waits for resume (order ORD-3300" in shown
        resumed = pilothouse.inside("resume", run)
        assert resumed.code == 0
        assert resumed.lines[0].startswith("resumed by cli:")
        assert resumed.lines[-1] == "finished: Refund of $180.00 for ORD-3300 is complete."
        assert pilothouse.ledger == {"ORD-3300": 180.0}

    def test_a_program_reads_what_it_waits_for(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        held = pilothouse.inside("hold", run, "--json")
        assert held.code == 0
        assert (held.json["status"], held.json["waiting_for"]) == ("waiting", "hold")
        assert held.json["approvals"] == [approval]
        resumed = pilothouse.inside("resume", run, "--json")
        assert (resumed.code, resumed.json["waiting_for"]) == (3, "approvals")

    def test_who_held_it_and_why_is_shown(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("hold", run, "--reason", "wait for \x1b[31mlegal")
        shown = pilothouse.inside("show", run).out
        assert "waiting for hold" in shown
        assert "held       by cli:" in shown
        assert r"wait for \x1b[31mlegal" in shown

    def test_held_already_it_stays_so(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("hold", run, "--reason", "wait for legal")
        again = pilothouse.inside("hold", run, "--reason", "wait for Bob")
        assert (again.code, again.out) == (0, "")
        assert f"Nothing was done: {run} is held already, by cli:" in again.err
        assert " UTC: wait for legal\n" in again.err

    def test_what_has_ended_can_not_be_held(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        held = pilothouse.inside("hold", run)
        assert (held.code, held.out) == (5, "")
        assert held.err == f"Nothing was done: {run} is finished.\n"


class TestStop:
    def test_it_ends_and_closes_what_it_asked(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        stopped = pilothouse.inside("stop", run, "--reason", "the wrong order")
        assert stopped.code == 0
        first, last = stopped.lines
        assert first.startswith("to be stopped by cli:")
        assert first.endswith(": the wrong order")
        assert last == "stopped"
        late = pilothouse.inside("approve", approval)
        assert (late.code, late.out) == (5, "")
        assert "there is nothing left to decide" in late.err
        assert pilothouse.ledger == {}
        (asked,) = pilothouse.inside("approvals", "--all", "--json").json
        assert asked["status"] == "cancelled"

    def test_a_program_reads_how_it_ended(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        stopped = pilothouse.inside("stop", run, "--json")
        assert (stopped.code, stopped.json["status"]) == (0, "cancelled")
        assert (stopped.json["waiting_for"], stopped.json["approvals"]) == (None, [])

    def test_what_has_ended_can_not_be_stopped(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("stop", run)
        again = pilothouse.inside("stop", run)
        assert (again.code, again.out) == (5, "")
        assert again.err == f"Nothing was done: {run} is cancelled.\n"
        assert pilothouse.inside("hold", run).code == 5

    def test_whoever_followed_it_is_told_that_it_was_cancelled(
        self, pilothouse: CommandLine
    ) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("stop", run, "--reason", "enough")
        watched = pilothouse.inside("watch", run)
        assert watched.code == 4
        assert watched.lines[-1] == "stopped"
        left = pilothouse.inside("resume", run)
        assert left.code == 4
        assert f"Nothing was to do: {run} has ended; it is cancelled." in left.err
        assert "stopped    by cli:" in pilothouse.inside("show", run).out

    def test_a_held_run_can_be_stopped(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("hold", run)
        assert pilothouse.inside("stop", run).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hold",), "Missing argument"),
        (("stop",), "Missing argument"),
        (("hold", "run_1"), "No run has the id run_1. Nothing was done."),
        (("stop", "run_1"), "No run has the id run_1. Nothing was done."),
        (("stop", "run_1", "now"), "unexpected extra argument"),
    ],
)
def test_wrong_use_ends_with_2(
    pilothouse: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    pilothouse.inside("db", "upgrade")
    ended = pilothouse.inside(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
