"""``fork`` and ``replay``: by the real command, exit codes taken literally."""

from __future__ import annotations

from typing import Any

import pytest

from store.chain import BEGINNING, hash_fact
from tests.cli.conftest import CommandLine
from tests.cli.test_recovering import in_the_database


def seq_of(pilothouse: CommandLine, run: str, kind: str) -> int:
    """Of the last event of this kind."""
    events = pilothouse.inside("journal", run, "--json").json
    return max(int(event["seq"]) for event in events if event["kind"] == kind)


def forge(pilothouse: CommandLine, run: str, seq: int, said: str, forged: str) -> None:
    """Change the words of an event, and every hash with it, as whoever holds the database can."""
    read = "SELECT seq, event_id, body FROM journal WHERE run_id = ? ORDER BY seq"
    previous = BEGINNING
    rows: list[Any] = in_the_database(pilothouse, read, run)
    for number, event_id, body in rows:
        now = body.replace(said, forged) if number == seq else body
        previous = hash_fact(previous, run, number, event_id, now)
        change = "UPDATE journal SET body = ?, hash = ? WHERE run_id = ? AND seq = ?"
        in_the_database(pilothouse, change, now, previous, run, number)
    in_the_database(pilothouse, "UPDATE runs SET head_hash = ? WHERE run_id = ?", previous, run)


class TestFork:
    def test_what_had_been_done_is_not_done_again(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        at = seq_of(pilothouse, run, "call_returned")
        forked = pilothouse.inside("fork", run, "--at", str(at), "--json")
        assert forked.code == 0
        assert forked.json["id"] != run
        assert forked.json["session"] != pilothouse.inside("show", run, "--json").json["session"]
        assert forked.json["answer"] == "Refund of $50.00 for ORD-1 is complete."
        assert pilothouse.ledger == {"ORD-1": 50.0}
        shown = pilothouse.inside("show", forked.json["id"]).out
        assert f"goes on    from {run} at {at}" in shown

    def test_what_waited_is_asked_anew_and_decided_apart(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        at = seq_of(pilothouse, run, "approval_requested")
        forked = pilothouse.inside("fork", run, "--at", str(at))
        assert forked.code == 3
        assert f"goes on from {run} at {at}" in forked.out
        asked = {one["id"]: one for one in pilothouse.inside("approvals", "--json").json}
        (other,) = set(asked) - {approval}
        pilothouse.inside("deny", approval, "--reason", "no")
        assert pilothouse.inside("approve", other).code == 0
        assert pilothouse.ledger == {"ORD-3300": 180.0}

    def test_it_may_be_told_something_else(self, pilothouse: CommandLine) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        forked = pilothouse.inside("fork", run, "--at", "1", "be quick")
        assert forked.code == 3
        (message,) = [line for line in forked.lines if line.startswith("message from cli:")]
        assert message.endswith(": be quick")

    def test_it_may_be_left_to_others(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        left = pilothouse.inside("fork", run, "--at", "1", "--no-wait")
        assert left.code == 0
        assert left.out.startswith("run_")
        assert pilothouse.inside("show", left.out.strip(), "--json").json["status"] == "running"

    def test_where_a_call_is_under_way_the_nearest_place_is_named(
        self, pilothouse: CommandLine
    ) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        at = seq_of(pilothouse, run, "call_started")
        refused = pilothouse.inside("fork", run, "--at", str(at))
        assert (refused.code, refused.out) == (2, "")
        assert (
            f"can't be forked at {at}: a call was under way. The nearest place is {at - 1}."
            in refused.err
        )
        assert len(pilothouse.inside("runs", "--json").json) == 1


class TestReplay:
    @pytest.mark.parametrize("text", ["refund ORD-1 50", "refund ORD-3300 180"])
    def test_what_this_version_did_it_would_do_again(
        self, pilothouse: CommandLine, text: str
    ) -> None:
        run = pilothouse.inside("run", text, "--json").json["id"]
        same = pilothouse.inside("replay", run)
        assert (same.code, same.err) == (0, "")
        assert same.out == "The same: this version would have taken every step of it.\n"
        assert pilothouse.inside("replay", run, "--json").json == []

    def test_a_difference_is_named(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        seq = seq_of(pilothouse, run, "run_finished")
        forge(pilothouse, run, seq, "is complete", "was nothing")
        assert pilothouse.inside("verify", run).code == 0, "its hashes are right"
        differs = pilothouse.inside("replay", run)
        assert differs.code == 1
        header, row = differs.lines
        assert header.split() == ["SEQ", "FOUND", "EXPECTED"]
        assert row.split()[:2] == [str(seq), "run_finished"]
        told = pilothouse.inside("replay", run, "--json")
        assert told.code == 1
        (difference,) = told.json
        assert (difference["seq"], difference["found"]) == (seq, "run_finished")

    def test_the_yes_of_a_stranger_is_a_difference(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        assert pilothouse.inside("approve", approval).code == 0
        seq = seq_of(pilothouse, run, "approval_decided")
        forge(pilothouse, run, seq, '"operator"', '"listed","user":"U0DAVE"')
        told = pilothouse.inside("replay", run, "--json")
        assert told.code == 1
        assert (told.json[0]["seq"], told.json[0]["found"]) == (seq, "approval_decided")

    def test_what_this_version_does_not_know_is_a_row_of_the_answer(
        self, pilothouse: CommandLine
    ) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        seq = seq_of(pilothouse, run, "call_returned")
        forge(pilothouse, run, seq, "call_returned", "call_flown")
        told = pilothouse.inside("replay", run, "--json")
        assert told.code == 1
        (difference,) = told.json
        assert (difference["seq"], difference["found"]) == (seq, "call_flown")
        assert "does not know the event call_flown" in difference["expected"]

    def test_what_cant_be_read_is_a_row_of_the_answer(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        seq = seq_of(pilothouse, run, "call_returned")
        where = f"WHERE run_id = '{run}' AND seq = {seq}"
        for change in (f"UPDATE journal SET body = 'x' {where}", f"DELETE FROM journal {where}"):
            in_the_database(pilothouse, change)
            told = pilothouse.inside("replay", run, "--json")
            assert told.code == 1
            (difference,) = told.json
            assert difference["seq"] == seq
            assert difference["found"] == "what can't be read"
            assert f"can't be read at {seq}" in difference["expected"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fork", "run_1"), "Missing option '--at'"),
        (("fork", "run_1", "--at", "0"), "Invalid value for '--at'"),
        (("fork", "run_1", "--at", "1"), "No run has the id run_1. Nothing was done."),
        (("fork", "run_1", "--at", "1", " "), "Say something, or leave it out."),
        (("replay",), "Missing argument"),
        (("replay", "run_1"), "No run has the id run_1. Nothing was done."),
    ],
)
def test_wrong_use_ends_with_2(
    pilothouse: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    pilothouse.inside("db", "upgrade")
    ended = pilothouse.inside(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
