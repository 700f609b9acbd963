"""What commands answer to programs, and to whoever uses them wrongly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.store.tampering import rewrite

RUN_KEYS = (
    "id agent session prompt requester status waiting_for blocked next_step state_version holder "
    "answer error approvals calls usage started_at updated_at ended_at waited_seconds thread"
)
APPROVAL_KEYS = (
    "id group run_id call_id kind tool title args preview reason rule policy_version hash status "
    "may_decide votes requested_at expires_at again_because decision"
)


def test_json_is_all_that_a_program_reads(pilothouse: CommandLine) -> None:
    started = pilothouse.inside("run", "refund ORD-3300 180", "--json")
    assert started.code == 3
    run = started.json
    assert " ".join(run) == RUN_KEYS
    assert (run["status"], run["waiting_for"]) == ("waiting", "approvals")
    (listed,) = pilothouse.inside("runs", "--json").json
    assert " ".join(listed) == RUN_KEYS
    (asked,) = pilothouse.inside("approvals", "--json").json
    assert " ".join(asked) == APPROVAL_KEYS
    assert asked["args"] == {"order": "ORD-3300", "amount": 180.0}
    assert pilothouse.inside("show", run["id"], "--json").json["approvals"] == [asked["id"]]
    events = pilothouse.inside("journal", run["id"], "--json").json
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["kind"] == "run_started"


def test_lists_are_plain_where_there_is_no_terminal(pilothouse: CommandLine) -> None:
    assert pilothouse.inside("runs").out == 'No runs yet. Start one: pilothouse run "TEXT"\n'
    assert pilothouse.inside("approvals").out == "Nothing waits for anybody.\n"
    run, approval = pilothouse.ask(f"refund ORD-3300 180 [bold]now[/bold]{' please' * 40}")
    header, row = pilothouse.inside("runs").lines
    assert header.split() == ["RUN", "AGENT", "STATUS", "STARTED", "ASKED"]
    assert row.startswith(f"{run}  refunds  waiting  ")
    assert "  refund ORD-3300 180 [bold]now[/bold] please" in row
    assert row.endswith(" …"), "what is long is shortened, and pads no other line"
    assert approval in pilothouse.inside("approvals").out
    shown = pilothouse.inside("show", run).out
    assert "status     waiting for approvals" in shown
    assert "process_refund: waiting (order ORD-3300, amount $180.00)" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fly",), "No such command"),
        (("run",), "Missing argument"),
        (("run", "  "), "Say what is to be done."),
        (("run", "x", "--agent", "nobody"), "There is no agent named nobody. There are: refunds."),
        (("deny", "apr_1", "--reason", " "), "Say why; the agent is told."),
        (("steer", "apr_1"), "Give --set or --guidance, one of them."),
        (("steer", "apr_1", "--set", "amount"), "'amount' is not NAME=VALUE."),
        (("steer", "apr_1", "--set", "a=1", "--set", "a=2"), "a is given twice."),
        (
            ("settle", "apr_1", "maybe"),
            "OUTCOME: Say happened, not-happened, check or give-up, not 'maybe'.",
        ),
        (("approve", "apr_1", "--for", "ever"), "--for: Say run or thread, not 'ever'."),
        (("answer", "apr_1"), "Missing argument"),
        (("answer", "apr_1", "  "), "Say something."),
        (("answer", "apr_1", "yes"), "No approval has the id apr_1. Nothing was done."),
        (("approve", "apr_1"), "To list those that wait: pilothouse approvals"),
        (("watch", "run_1"), "No run has the id run_1. Nothing was done."),
        (("show", "run_1"), "No run has the id run_1."),
        (("serve",), "SLACK_BOT_TOKEN is not set. README.md"),
        (("sandbox", "http://127.0.0.1:1/"), "URLs stand behind --deliver."),
    ],
)
def test_wrong_use_is_said_in_words_and_ends_with_2(
    pilothouse: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    pilothouse.inside("db", "upgrade")
    ended = pilothouse.inside(*arguments)
    assert ended.code == 2
    assert said in ended.err
    assert ended.out == ""


def test_an_unknown_setting_ends_every_command(pilothouse: CommandLine) -> None:
    pilothouse.settings["PILOTHOUSE_DATTA"] = "x"
    for command in (("runs",), ("serve",), ("demo",)):
        ended = pilothouse.inside(*command)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == "There is no setting PILOTHOUSE_DATTA; did you mean PILOTHOUSE_DATA?\n"


def test_help_needs_nothing_and_no_folder(tmp_path: Path) -> None:
    helped = subprocess.run(
        [sys.executable, "-m", "bot", "--help"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert helped.returncode == 0
    assert "approvals" in helped.stdout


@pytest.mark.parametrize("command", ["demo", "serve", "runs", "sandbox"])
def test_help_says_what_goes_where_in_plain_words(pilothouse: CommandLine, command: str) -> None:
    helped = pilothouse.inside(command, "--help").out
    assert "<int range>" not in helped


def test_another_package_in_the_place_of_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "__init__.py").write_text("")
    started = subprocess.run(
        [sys.executable, "-m", "bot", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert started.returncode == 1
    assert f"finds {tmp_path / 'store'}" in started.stderr


def _forget(folder: Path, run: str) -> None:
    """As a newer build would have written it."""
    url = f"sqlite:///{folder / 'data' / 'pilothouse.db'}"
    rewrite(url, 3, lambda body: body.replace("call_judged", "teleported"), run)


def test_a_run_that_can_not_be_read_is_blocked_and_hides_no_other(pilothouse: CommandLine) -> None:
    unreadable, _ = pilothouse.ask("refund ORD-3300 180")
    other, approval = pilothouse.ask("refund ORD-3301 180")
    _forget(pilothouse.folder, unreadable)
    shapes = {run["id"]: run for run in pilothouse.inside("runs", "--json").json}
    assert set(shapes[unreadable]) == set(RUN_KEYS.split())
    assert shapes[unreadable]["blocked"]["code"] == "incompatible"
    assert "newer build" in shapes[unreadable]["blocked"]["fix"]
    assert shapes[other]["status"] == "waiting"
    assert [one["id"] for one in pilothouse.inside("approvals", "--json").json] == [approval]
    assert pilothouse.inside("show", unreadable).code == 6
    assert pilothouse.inside("approve", approval).code == 0


def test_a_run_whose_tool_is_gone_is_blocked_and_keeps_nobody_waiting(
    pilothouse: CommandLine,
) -> None:
    run, approval = pilothouse.ask("refund ORD-3300 180")
    (pilothouse.folder / "few_tools.py").write_text(
        "from agent import tool\n\n\n@tool(approval=False, effect='read')\n"
        "def search_policy(topic: str) -> str:\n    'Search.'\n    return 'x'\n"
    )
    config = pilothouse.folder / "few.yml"
    config.write_text("agents:\n  refunds: {model: demo, tools: [few_tools]}\n")
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(config)
    ended = pilothouse("approve", approval)
    assert ended.code == 6
    assert "no tool process_refund" in ended.err
    assert pilothouse("show", run).code == 6


def test_a_key_that_began_a_run_with_other_words_is_refused(pilothouse: CommandLine) -> None:
    assert pilothouse.inside("run", "refund ORD-1 20", "--key", "k").code == 0
    assert pilothouse.inside("run", "refund ORD-1 20", "--key", "k").code == 0
    ended = pilothouse.inside("run", "refund ORD-2 20", "--key", "k")
    assert ended.code == 5
    assert "Nothing was done" in ended.err
    assert pilothouse.ledger == {"ORD-1": 20.0}


def test_a_denial_needs_words(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    assert pilothouse.inside("deny", approval, "--reason", " ").code == 2
    refused = pilothouse.inside("deny", approval)
    assert (refused.code, refused.out) == (2, "")
    assert "--reason: Say why; the agent is told." in refused.err


def test_what_is_asked_stands_in_the_list(pilothouse: CommandLine) -> None:
    run, _ = pilothouse.ask("refund ORD-3300 180")
    told = " ".join(pilothouse.inside("approvals").out.split())
    assert "process_refund (order ORD-3300, amount $180.00)" in told
    assert run in told
