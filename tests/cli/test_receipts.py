"""``receipt`` and ``journal``: what is known of an effect, and everything that was recorded."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import CommandLine


def operation_of(pilothouse: CommandLine, run: str, tool: str) -> str:
    calls = pilothouse.inside("show", run, "--json").json["calls"]
    (operation,) = [call["operation_id"] for call in calls if call["tool"] == tool]
    return str(operation)


def test_an_effect_is_followed_from_the_question_to_its_receipt(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    operation = operation_of(pilothouse, run, "process_refund")
    before = pilothouse("receipt", operation, "--json")
    assert before.code == 0
    assert (before.json["status"], before.json["call_status"]) == ("none", "waiting")
    assert pilothouse.inside("approve", approval).code == 0
    known = pilothouse.inside("receipt", operation, "--json")
    call = pilothouse.inside("show", run, "--json").json["calls"][1]
    assert known.json == {
        "operation_id": operation,
        "run_id": run,
        "call_id": call["call_id"],
        "tool": "process_refund",
        "call_status": "ok",
        "attempts": 1,
        "status": "committed",
        "external_id": call["receipt"]["external_id"],
    }
    assert pilothouse.inside("receipt", operation).lines == [
        f"operation  {operation}",
        f"run        {run}",
        f"call       {call['call_id']}: process_refund, ok",
        "attempts   1",
        "receipt    committed: it happened",
        f"outside    {call['receipt']['external_id']}",
    ]


def test_what_nobody_knows_is_called_unknown(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("voucher ORD-7 20 shaky")
    assert pilothouse.inside("approve", approval).code == 3
    operation = operation_of(pilothouse, run, "send_voucher")
    assert pilothouse.inside("receipt", operation, "--json").json["status"] == "unknown"
    assert "nobody has heard whether it happened" in pilothouse.inside("receipt", operation).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("receipt",), "Missing argument"),
        (("receipt", "op_0"), "No operation has the id op_0. Nothing was done."),
        (("journal",), "Give a run's id, or --control."),
        (("journal", "run_0"), "No run has the id run_0."),
    ],
)
def test_wrong_use_ends_with_2(
    pilothouse: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    pilothouse.inside("db", "upgrade")
    ended = pilothouse.inside(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_the_journal_has_a_line_an_event_and_a_program_reads_the_same(
    pilothouse: CommandLine,
) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    events = pilothouse.inside("journal", run, "--json")
    assert events.code == 0
    for event in events.json:
        assert list(event)[:4] == ["seq", "id", "at", "hash"]
        assert event["at"].endswith("Z")
        assert len(event["hash"]) == 64
        assert event["version"] >= 1
    lines = pilothouse.inside("journal", run).lines
    assert [line.split()[0] for line in lines] == [str(event["seq"]) for event in events.json]
    assert [line.split()[3] for line in lines] == [event["kind"] for event in events.json]
    (asked,) = [line for line in lines if "approval_requested" in line]
    assert json.loads(asked[asked.index("{") :])["approval_id"] == approval


def test_show_marks_what_was_reused_when_the_run_went_on(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    assert "search_policy: ok (" in pilothouse.inside("show", run).out
    pilothouse.inside("approve", approval)
    shown = pilothouse.inside("show", run).out
    assert "search_policy: ok, reused (" in shown
    assert "process_refund: ok, receipt committed" in shown
