"""``resume``, ``retry``, ``recover``, ``unfinished``: by the real command, exit codes taken literally."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent import Agent, Principal, Runtime, Toolbox
from agent.models.scripted import ScriptedModel
from agent.rules.ids import RunId
from store import open_store
from tests.cli.conftest import CommandLine
from tests.store.tampering import rewrite, setting

LATER = 4_000_000_000_000_000


def in_the_database(
    pilothouse: CommandLine, statement: str, *values: object
) -> list[tuple[object]]:
    path = pilothouse.folder / "data" / "pilothouse.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def leave(pilothouse: CommandLine, text: str, *options: str) -> str:
    """A run that was started and that nobody works."""
    return pilothouse.inside("run", text, "--no-wait", *options).out.strip()


def fail(pilothouse: CommandLine, text: str, *options: str) -> str:
    """A run that failed: it ended each process that took it up."""
    run = leave(pilothouse, text, *options)
    in_the_database(pilothouse, "UPDATE runs SET claims = 99 WHERE run_id = ?", run)
    ended = pilothouse.inside("resume", run)
    assert ended.code == 1
    assert ended.lines == ["run failed: " + FAILED]
    assert f"pilothouse retry {run}" in ended.err
    return run


FAILED = (
    "It was taken up 5 times without any progress (each time the process that worked it ended)."
)


async def hold_at_once(pilothouse: CommandLine, run_id: RunId) -> None:
    """Hold a run, and do not wait for what has begun."""
    store = await open_store(f"sqlite:///{pilothouse.folder / 'data' / 'pilothouse.db'}")
    try:
        agent = Agent("refunds", ScriptedModel([]), Toolbox([]))
        await Runtime([agent], store).hold(run_id, Principal("cli:somebody"))
    finally:
        await store.close()


def without_tools(pilothouse: CommandLine) -> None:
    """From now on the agent has only a tool that reads."""
    (pilothouse.folder / "few_tools.py").write_text(
        "from agent import tool\n\n\n@tool(approval=False, effect='read')\n"
        "def search_policy(topic: str) -> str:\n    'Search.'\n    return 'x'\n"
    )
    config = pilothouse.folder / "few.yml"
    config.write_text("agents:\n  refunds: {model: demo, tools: [few_tools]}\n")
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(config)


def blocked_run(pilothouse: CommandLine) -> str:
    """A run whose tool is gone after it was approved."""
    run, approval = pilothouse.ask("refund ORD-3300 180")
    without_tools(pilothouse)
    assert pilothouse("approve", approval).code == 6
    return run


def shown_in_a_thread(pilothouse: CommandLine, run: str, trouble: str | None = None) -> None:
    """As whoever draws it has written down."""
    url = f"sqlite:///{pilothouse.folder / 'data' / 'pilothouse.db'}"
    rewrite(url, 1, setting(place="slack:T0PILOT/C0SUPPORT/"), run)
    in_the_database(
        pilothouse,
        "INSERT INTO threads (run_id, wanted_seq, shown_seq, fence, trouble) VALUES (?, 1, 0, 0, ?)",
        *(run, trouble),
    )


class TestResume:
    def test_an_unfinished_run_is_worked_to_its_end(self, pilothouse: CommandLine) -> None:
        run = leave(pilothouse, "refund ORD-1 50")
        ended = pilothouse.inside("resume", run)
        assert ended.code == 0
        assert ended.lines[-1] == "finished: Refund of $50.00 for ORD-1 is complete."
        assert pilothouse.ledger == {"ORD-1": 50.0}

    def test_a_run_that_comes_to_a_question_waits(self, pilothouse: CommandLine) -> None:
        run = leave(pilothouse, "refund ORD-3300 180")
        ended = pilothouse.inside("resume", run, "--json")
        assert ended.code == 3
        assert (ended.json["id"], ended.json["status"]) == (run, "waiting")

    def test_a_run_that_waits_is_left_alone_and_says_for_what(
        self, pilothouse: CommandLine
    ) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        ended = pilothouse.inside("resume", run)
        assert (ended.code, ended.out) == (3, "")
        assert f"Nothing was to do: {run} waits for people." in ended.err
        assert f"pilothouse approve {approval}" in ended.err
        told = pilothouse.inside("resume", run, "--json")
        assert (told.code, told.json["approvals"], told.err) == (3, [approval], "")

    def test_one_that_could_not_ask_in_its_thread_is_tried_there(
        self, pilothouse: CommandLine
    ) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        shown_in_a_thread(pilothouse, run, "is_archived")
        ended = pilothouse.inside("resume", run)
        assert (ended.code, ended.out) == (6, "")
        assert f"What {run} waits for is asked in its thread now" in ended.err
        assert "(is_archived)" in ended.err
        assert "Nothing was to do" not in ended.err
        told = pilothouse.inside("resume", run, "--json")
        assert (told.code, told.json["status"], told.err) == (6, "blocked", "")

    def test_one_that_waits_in_a_thread_has_that_looked_at(self, pilothouse: CommandLine) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        shown_in_a_thread(pilothouse, run)
        ended = pilothouse.inside("resume", run)
        assert (ended.code, ended.out) == (3, "")
        assert f"{run} waits for people. Its thread is looked at now" in ended.err
        assert "Nothing was to do" not in ended.err
        assert f"pilothouse approve {approval}" in ended.err
        assert in_the_database(
            pilothouse, "SELECT asked_for_at IS NOT NULL FROM threads WHERE run_id = ?", run
        ) == [(1,)]

    def test_a_run_that_has_ended_is_left_alone(self, pilothouse: CommandLine) -> None:
        run = pilothouse.inside("run", "refund ORD-1 50", "--json").json["id"]
        ended = pilothouse.inside("resume", run)
        assert (ended.code, ended.out) == (0, "")
        assert f"Nothing was to do: {run} has ended; it is finished." in ended.err
        failed = fail(pilothouse, "refund ORD-2 50")
        ended = pilothouse.inside("resume", failed)
        assert ended.code == 1
        assert f"{failed} has ended; it is failed." in ended.err
        assert f"pilothouse retry {failed}" in ended.err

    def test_a_run_that_somebody_holds_is_left_to_them(self, pilothouse: CommandLine) -> None:
        run = leave(pilothouse, "refund ORD-1 50")
        held = "UPDATE runs SET holder = 'proc_1', lease_expires_at = ?, wake_at = ?"
        in_the_database(pilothouse, held, LATER, LATER)
        ended = pilothouse.inside("resume", run)
        assert (ended.code, ended.out) == (0, "")
        assert f"Nothing was done: {run} is being worked by proc_1." in ended.err
        assert f"pilothouse watch {run}" in ended.err
        assert pilothouse.inside("resume", run, "--json").json["holder"] == "proc_1"

    def test_what_is_resumed_is_followed_while_somebody_else_works_it(
        self, pilothouse: CommandLine
    ) -> None:
        run = leave(pilothouse, "check ORD-1 ORD-2 ORD-3")
        with pilothouse.beside("resume", run) as works:
            assert works.stdout is not None
            assert works.stdout.readline() == "done: check_order\n"
            asyncio.run(hold_at_once(pilothouse, RunId(run)))
            resumed = pilothouse.inside("resume", run)
        assert resumed.code == 0
        # What the other had under way when it was held may be done just before.
        first = next(line for line in resumed.lines if not line.startswith("done: check_order"))
        assert first.startswith("resumed by cli:")
        assert resumed.lines[-3].startswith("finished: ORD-1 is ")

    def test_a_blocked_run_is_tried_at_once_when_what_it_lacked_is_back(
        self, pilothouse: CommandLine
    ) -> None:
        run = blocked_run(pilothouse)
        still = pilothouse("resume", run)
        assert (still.code, still.out) == (6, "")
        assert still.err.startswith("blocked: refunds has no tool process_refund any more.")
        told = pilothouse("resume", run, "--json")
        assert (told.code, told.json["blocked"]["code"]) == (6, "missing_tool")
        assert pilothouse.ledger == {}
        del pilothouse.settings["PILOTHOUSE_CONFIG"]
        assert pilothouse("resume", run).code == 0
        assert pilothouse.ledger == {"ORD-3300": 180.0}

    def test_a_run_that_can_not_be_read_is_blocked(self, pilothouse: CommandLine) -> None:
        run = leave(pilothouse, "refund ORD-1 50")
        url = f"sqlite:///{pilothouse.folder / 'data' / 'pilothouse.db'}"
        rewrite(url, 1, lambda body: body.replace("run_started", "teleported"), run)
        ended = pilothouse.inside("resume", run)
        assert ended.code == 6
        assert "does not know the event teleported" in ended.err

    def test_a_corrupt_run_is_shown_as_blocked_and_the_others_go_on(
        self, pilothouse: CommandLine
    ) -> None:
        run, other = leave(pilothouse, "refund ORD-1 50"), leave(pilothouse, "refund ORD-2 50")
        in_the_database(pilothouse, "UPDATE journal SET body = '{}' WHERE run_id = ?", run)
        recovered = {one["id"]: one for one in pilothouse.inside("recover", "--json").json}
        assert recovered[run]["blocked"]["code"] == "corrupt"
        assert recovered[other]["status"] == "finished"
        listed = {one["id"]: one for one in pilothouse.inside("runs", "--json").json}
        assert listed[run]["blocked"]["code"] == "corrupt"
        shown = pilothouse.inside("show", run, "--json")
        assert (shown.code, shown.json) == (6, listed[run])
        told = pilothouse.inside("show", run)
        assert (told.code, told.out) == (6, "")
        assert "can't be read at 1: it is not what was written" in told.err
        assert pilothouse.ledger == {"ORD-2": 50.0}


class TestRetry:
    def test_a_failed_run_goes_on_from_where_it_failed(self, pilothouse: CommandLine) -> None:
        run = fail(pilothouse, "refund ORD-1 50")
        assert pilothouse.inside("show", run, "--json").json["status"] == "failed"
        ended = pilothouse.inside("retry", run)
        assert ended.code == 0
        assert ended.lines[0] == "run taken on again"
        assert ended.lines[-1] == "finished: Refund of $50.00 for ORD-1 is complete."
        assert pilothouse.ledger == {"ORD-1": 50.0}
        (reopened,) = [
            event
            for event in pilothouse.inside("journal", run, "--json").json
            if event["kind"] == "run_reopened"
        ]
        assert reopened["by"].startswith("cli:")

    def test_it_may_come_to_a_question(self, pilothouse: CommandLine) -> None:
        run = fail(pilothouse, "refund ORD-3300 180")
        ended = pilothouse.inside("retry", run, "--json")
        assert (ended.code, ended.json["status"]) == (3, "waiting")

    @pytest.mark.parametrize("text", ["refund ORD-1 50", "refund ORD-3300 180"])
    def test_nothing_else_is_taken_on_again(self, pilothouse: CommandLine, text: str) -> None:
        run = pilothouse.inside("run", text, "--json").json
        ended = pilothouse.inside("retry", run["id"])
        assert (ended.code, ended.out) == (5, "")
        assert ended.err == (
            f"Nothing was done: {run['id']} is {run['status']}, "
            "and only a failed run can be taken on again.\n"
        )

    def test_not_while_its_conversation_has_another_run(self, pilothouse: CommandLine) -> None:
        run = fail(pilothouse, "refund ORD-1 50", "--session", "ses_1")
        other = leave(pilothouse, "refund ORD-3300 180", "--session", "ses_1")
        ended = pilothouse.inside("retry", run)
        assert ended.code == 5
        assert f"has a run that has not ended: {other}. Nothing was done." in ended.err
        assert pilothouse.inside("show", run, "--json").json["status"] == "failed"


class TestRecover:
    def test_what_is_due_and_worked_by_nobody_is_taken_up(self, pilothouse: CommandLine) -> None:
        finished, waits = [
            leave(pilothouse, text) for text in ("refund ORD-1 50", "refund ORD-3300 180")
        ]
        done = pilothouse("recover")
        assert done.code == 0
        _, *rows = done.lines
        assert {tuple(row.split()[:3]) for row in rows} == {
            (finished, "refunds", "finished"),
            (waits, "refunds", "waiting"),
        }
        assert pilothouse.ledger == {"ORD-1": 50.0}
        again = pilothouse.inside("recover")
        assert (again.code, again.out) == (
            0,
            "Nothing was to do: no run is due that nobody works.\n",
        )

    def test_a_program_reads_the_runs(self, pilothouse: CommandLine) -> None:
        run = leave(pilothouse, "refund ORD-1 50")
        (shape,) = pilothouse.inside("recover", "--json").json
        assert (shape["id"], shape["status"]) == (run, "finished")
        assert pilothouse.inside("recover", "--json").json == []

    def test_what_somebody_holds_is_left_to_them(self, pilothouse: CommandLine) -> None:
        leave(pilothouse, "refund ORD-1 50")
        held = "UPDATE runs SET holder = 'proc_1', lease_expires_at = ?, wake_at = ?"
        in_the_database(pilothouse, held, LATER, LATER)
        assert pilothouse.inside("recover", "--json").json == []

    def test_one_that_can_not_go_on_is_shown_as_blocked(self, pilothouse: CommandLine) -> None:
        run = blocked_run(pilothouse)
        in_the_database(pilothouse, "UPDATE runs SET wake_at = 0")
        (shape,) = pilothouse("recover", "--json").json
        assert (shape["id"], shape["blocked"]["code"]) == (run, "missing_tool")


class TestUnfinished:
    def test_what_has_ended_is_left_out(self, pilothouse: CommandLine) -> None:
        assert pilothouse.inside("unfinished").out == "No run is unfinished.\n"
        assert pilothouse.inside("unfinished", "--json").json == []
        pilothouse.inside("run", "refund ORD-1 50")
        waits, _ = pilothouse.ask("refund ORD-3300 180")
        fresh = leave(pilothouse, "refund ORD-2 50")
        listed = pilothouse.inside("unfinished", "--json")
        assert listed.code == 0
        assert [(run["id"], run["status"]) for run in listed.json] == [
            (fresh, "running"),
            (waits, "waiting"),
        ]
        header, *rows = pilothouse.inside("unfinished", "--limit", "1").lines
        assert header.split() == ["RUN", "AGENT", "STATUS", "STARTED", "ASKED"]
        assert [row.split()[0] for row in rows] == [fresh]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("resume",), "Missing argument"),
        (("retry",), "Missing argument"),
        (("recover", "run_1"), "unexpected extra argument"),
        (("unfinished", "--limit", "0"), "Invalid value for '--limit'"),
        (("resume", "run_1"), "No run has the id run_1. Nothing was done."),
        (("retry", "run_1"), "No run has the id run_1. Nothing was done."),
    ],
)
def test_wrong_use_ends_with_2(
    pilothouse: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    pilothouse.inside("db", "upgrade")
    ended = pilothouse.inside(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_every_command_works_from_any_folder(pilothouse: CommandLine, tmp_path: Path) -> None:
    run = leave(pilothouse, "refund ORD-1 50")
    elsewhere = CommandLine(tmp_path / "elsewhere", pilothouse.monkeypatch, pilothouse.capsys)
    elsewhere.folder.mkdir()
    elsewhere.settings["PILOTHOUSE_DATA"] = str(pilothouse.folder / "data")
    assert elsewhere("resume", run).code == 0
