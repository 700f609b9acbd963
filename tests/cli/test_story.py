"""The story by command line: no bot running, and each command its own worker."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import CommandLine
from tests.databases import POSTGRES, SQLITE
from tests.examples import long_only

REASON = "refund $180.00 exceeds the $100 threshold"


@pytest.fixture
def pilothouse(pilothouse: CommandLine, url: str) -> CommandLine:
    """On each kind of database."""
    pilothouse.settings["PILOTHOUSE_DATABASE_URL"] = url
    return pilothouse


def test_a_run_stops_at_the_question_and_an_approval_finishes_it(pilothouse: CommandLine) -> None:
    started = pilothouse("run", "refund ORD-3300 180")
    assert started.code == 3
    assert started.lines[:2] == ["run started", "done: search_policy"]
    paused = re.fullmatch(
        rf"PAUSED for approval \({re.escape(REASON)}\), token (apr_\w+)", started.lines[2]
    )
    assert paused
    assert len(started.lines) == 3
    assert f"pilothouse approve {paused[1]}" in started.err
    assert pilothouse.ledger == {}

    approved = pilothouse("approve", paused[1], "--note", "fine")
    assert approved.code == 0
    assert approved.lines[0] == "human decision: approve"
    assert approved.lines[1:] == [
        "done: process_refund",
        "finished: Refund of $180.00 for ORD-3300 is complete.",
    ]
    assert pilothouse.ledger == {"ORD-3300": 180.0}


@pytest.mark.parametrize("kind", [SQLITE, *long_only(POSTGRES)], indirect=True)
def test_a_steered_run_is_told_in_six_beats(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    wrong = pilothouse("steer", approval, "--set", "amount=abc")
    assert wrong.code == 2
    assert "amount: Enter a number" in wrong.err
    assert pilothouse.ledger == {}

    assert pilothouse("steer", approval, "--set", "amount=90").code == 0
    assert pilothouse.ledger == {"ORD-3300": 90.0}
    watched = pilothouse("watch", run).lines
    assert [line.partition(", by ")[0] for line in watched] == [
        "run started",
        "done: search_policy",
        f"PAUSED for approval ({REASON}), token {approval}",
        "human decision: steer",
        "done: process_refund",
        "finished: Refund of $90.00 for ORD-3300 is complete.",
    ]
    late = pilothouse("approve", approval)
    assert late.code == 5
    assert "Too late: steered by cli:" in late.err
    assert late.out == ""


def test_a_denied_run_ends_and_no_money_has_moved(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    denied = pilothouse.inside("deny", approval, "--reason", "not twice", "--json")
    assert denied.code == 0
    assert denied.json["status"] == "finished"
    assert "not twice" in denied.json["answer"]
    assert pilothouse.ledger == {}


def test_guidance_makes_the_agent_plan_again(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    steered = pilothouse.inside("steer", approval, "--guidance", "only 60 please")
    assert steered.code == 0
    assert pilothouse.ledger == {"ORD-3300": 60.0}


def test_a_small_refund_asks_nobody(pilothouse: CommandLine) -> None:
    done = pilothouse.inside("run", "refund ORD-1 50")
    assert done.code == 0
    assert done.lines[-1] == "finished: Refund of $50.00 for ORD-1 is complete."
    assert pilothouse.ledger == {"ORD-1": 50.0}


def test_an_unknown_effect_is_settled_by_a_person(pilothouse: CommandLine) -> None:
    run, approval = pilothouse.ask("voucher ORD-7 20 shaky")
    unknown = pilothouse.inside("approve", approval)
    assert unknown.code == 3
    assert unknown.lines[1].startswith("not known: send_voucher: ")
    assert unknown.lines[2].startswith("PAUSED for review (")
    review = pilothouse.inside("show", run, "--json").json["approvals"][0]
    assert f"pilothouse settle {review}" in unknown.err
    settled = pilothouse.inside("settle", review, "happened")
    assert settled.code == 0
    assert settled.lines[0] == "human decision: settle (happened)"


def test_the_same_key_finds_the_run_that_is_there(pilothouse: CommandLine) -> None:
    first = pilothouse.inside("run", "refund ORD-1 50", "--key", "k", "--json").json
    again = pilothouse.inside("run", "refund ORD-1 50", "--key", "k", "--json").json
    assert again["id"] == first["id"]
    assert pilothouse.ledger == {"ORD-1": 50.0}


def test_a_run_that_is_only_started_goes_on_when_somebody_works(pilothouse: CommandLine) -> None:
    left = pilothouse.inside("run", "refund ORD-1 50", "--no-wait")
    assert left.code == 0
    assert re.fullmatch(r"run_\w+\n", left.out)
    assert "No bot process is running" in left.err
    assert pilothouse.inside("watch", left.out.strip(), "--no-follow").lines == ["run started"]
    # A command works its own run, and nobody else's.
    pilothouse.inside("run", "refund ORD-2 60")
    assert pilothouse.ledger == {"ORD-2": 60.0}
    pilothouse.inside("recover")
    assert pilothouse.ledger == {"ORD-1": 50.0, "ORD-2": 60.0}


def test_a_decision_for_an_agent_that_is_gone_is_kept_and_the_run_is_blocked(
    pilothouse: CommandLine,
) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    other = pilothouse.folder / "other.yml"
    other.write_text("agents: {other: {model: demo}}\n")
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(other)
    kept = pilothouse.inside("approve", approval)
    assert kept.code == 6
    assert "blocked: The agent refunds is not configured." in kept.err
    assert pilothouse.inside("show", run, "--json").json["blocked"]["code"] == "missing_agent"
    assert pilothouse.ledger == {}
