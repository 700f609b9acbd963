"""A tool that is gone while a run waits for it: by the real command, beside real bots."""

from __future__ import annotations

import importlib
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from bot.demo.child import ANNOUNCED
from tests.cli.conftest import CommandLine, Ended
from tests.store.database import ask

PATIENCE = 40.0
WITH = "from bot.demo.tools import process_refund, search_policy\n"
WITHOUT = "from bot.demo.tools import search_policy\n"
GLOB = "{tool: '*_refund', action: ask}"
BY_NAME = "{tool: process_refund, action: ask}"
GONE = "refunds has no tool process_refund any more. Put the tool back; the run goes on by itself."
READING = ("show", "watch", "journal", "runs", "unfinished", "approvals")


@pytest.fixture
def house(pilothouse: CommandLine) -> CommandLine:
    """A configuration of its own, with both tools and one rule that names them by a glob."""
    configure(pilothouse, WITH, GLOB)
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(pilothouse.folder / "pilothouse.yml")
    return pilothouse


def configure(house: CommandLine, tools: str, *rules: str) -> None:
    (house.folder / "own_tools.py").write_text(tools)
    (house.folder / "pilothouse.yml").write_text(
        "owners: {users: [U0OWNER]}\n"
        "agents:\n  refunds: {model: demo, tools: [own_tools]}\n"
        "policy:\n" + "".join(f"- {rule}\n" for rule in rules)
    )


def here(house: CommandLine, *words: str) -> Ended:
    """A command, in this process, that imports the tools as they are now."""
    with pytest.MonkeyPatch.context() as before:
        before.setattr(sys, "path", list(sys.path))
        before.delitem(sys.modules, "own_tools", raising=False)
        importlib.invalidate_caches()
        try:
            return house.inside(*words)
        finally:
            sys.modules.pop("own_tools", None)


def asked(house: CommandLine) -> tuple[str, str]:
    """A run that waits for a yes to its refund, and the question."""
    run = here(house, "run", "refund ORD-3300 180", "--json").json
    assert run["status"] == "waiting"
    return run["id"], run["approvals"][0]


@contextmanager
def spoken(house: CommandLine, *words: str, **settings: str) -> Iterator[queue.Queue[str]]:
    """A command that goes on, killed in the end; what it says, line by line, on both outputs."""
    lines: queue.Queue[str] = queue.Queue()
    with subprocess.Popen(
        [sys.executable, "-m", "bot", *words],
        cwd=house.folder,
        env=house.environment | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        reading = threading.Thread(target=_read, args=(process.stdout, lines))
        reading.start()
        try:
            yield lines
        finally:
            process.kill()
            reading.join()


def _read(said: IO[str], lines: queue.Queue[str]) -> None:
    for line in said:
        lines.put(line.strip())


@contextmanager
def bot(house: CommandLine) -> Iterator[list[str]]:
    """A bot process that works; what it said until it did. Slack is not there, and not needed."""
    slack = {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_APP_TOKEN": "xapp-sandbox",
        "SLACK_API_URL": "http://127.0.0.1:9/api/",
        "PILOTHOUSE_HTTP_PORT": "0",
    }
    with spoken(house, "serve", **slack) as lines:
        said = [lines.get(timeout=PATIENCE)]
        while not ANNOUNCED.match(said[-1]):
            said.append(lines.get(timeout=PATIENCE))
        yield said


def database(house: CommandLine) -> str:
    return f"sqlite:///{house.folder / 'data' / 'pilothouse.db'}"


class TestABotWithoutTheTool:
    def test_every_command_says_that_the_run_is_blocked_and_none_hangs(
        self, house: CommandLine
    ) -> None:
        run, approval = asked(house)
        configure(house, WITHOUT, GLOB)
        with bot(house):
            approved = here(house, "approve", approval)
            assert approved.code == 6
            assert approved.err.splitlines()[-1] == f"blocked: {GONE}"
            shown = here(house, "show", run, "--json")
            assert (shown.code, shown.json["status"]) == (6, "blocked")
            assert shown.json["blocked"] == {
                "code": "missing_tool",
                "message": GONE.partition(" Put")[0],
                "fix": "Put the tool back; the run goes on by itself.",
            }
            for command in ("runs", "unfinished"):
                (listed,) = here(house, command, "--json").json
                assert listed["blocked"] == shown.json["blocked"], command
            resumed = here(house, "resume", run)
            assert (resumed.code, resumed.out) == (6, "")
            assert f"blocked: {GONE}" in resumed.err
            told = here(house, "watch", run, "--no-follow").lines
            assert [line for line in told if "blocked" in line] == [f"blocked: {GONE}"]
        assert house.ledger == {}

    def test_watch_says_so_once_and_sees_the_run_go_on_when_the_tool_is_back(
        self, house: CommandLine
    ) -> None:
        run, approval = asked(house)
        configure(house, WITHOUT, GLOB)
        with spoken(house, "watch", run) as lines:
            with bot(house):
                said = [lines.get(timeout=PATIENCE)]
                while not said[-1].startswith("blocked: "):
                    said.append(lines.get(timeout=PATIENCE))
                assert said[-1] == f"blocked: {GONE}"
                assert here(house, "approve", approval).code == 6
            configure(house, WITH, GLOB)
            with bot(house):
                # It was put off; it need not be waited for here.
                ask(database(house), "UPDATE runs SET wake_at = 0 WHERE holder IS NULL")
                while not said[-1].startswith("finished: "):
                    said.append(lines.get(timeout=PATIENCE))
        assert [line for line in said if line.startswith("blocked: ")] == [f"blocked: {GONE}"]
        assert house.ledger == {"ORD-3300": 180.0}

    def test_what_it_lacks_is_worked_here_where_it_is(self, house: CommandLine) -> None:
        run, approval = asked(house)
        configure(house, WITHOUT, GLOB)
        with bot(house):
            configure(house, WITH, GLOB)
            shown = here(house, "show", run, "--json")
            assert shown.json["blocked"]["message"] == (
                "No bot that runs now has what this run of refunds needs: process_refund."
            )
            # A bot of an older build does not say what it has; a run with a preview it can't read.
            ask(database(house), "UPDATE processes SET tools = NULL, form = NULL")
            assert here(house, "show", run, "--json").json["status"] == "blocked"
            ask(database(house), """UPDATE processes SET tools = '{"refunds": []}'""")
            assert here(house, "approve", approval).code == 0
        assert house.ledger == {"ORD-3300": 180.0}


class TestARuleForAToolThatIsGone:
    def test_strands_no_run_that_has_an_open_call_to_it(self, house: CommandLine) -> None:
        configure(house, WITH, BY_NAME)
        run, approval = asked(house)
        configure(house, WITHOUT, BY_NAME)
        with bot(house) as said:
            (warning,) = [line for line in said if "no agent has a tool" in line]
            file = house.folder / "pilothouse.yml"
            assert " WARNING " in warning
            assert f"{file}:5: policy[0].tool: no agent has a tool process_refund; " in warning
            assert warning.endswith(run)
            assert here(house, "approve", approval).code == 6
        configure(house, WITH, BY_NAME)
        assert here(house, "resume", run).code == 0
        assert house.ledger == {"ORD-3300": 180.0}

    def test_refuses_to_start_when_no_run_needs_it_and_still_shows_what_there_is(
        self, house: CommandLine
    ) -> None:
        run, approval = asked(house)
        configure(house, WITH, GLOB, "{tool: proces_refund, action: deny}")
        slip = (
            f"{house.folder / 'pilothouse.yml'}:6: policy[1].tool: no agent has a tool proces_refund; "
            "there are: process_refund, search_policy.\n"
        )
        for words in (
            ("run", "refund ORD-1 5"),
            ("approve", approval),
            ("resume", run),
            ("recover",),
        ):
            refused = here(house, *words)
            assert (refused.code, refused.out, refused.err) == (2, "", slip), words
        house.settings |= {"SLACK_BOT_TOKEN": "xoxb-sandbox", "SLACK_APP_TOKEN": "xapp-sandbox"}
        served = house("serve")
        assert (served.code, served.out) == (2, "")
        assert served.err.endswith(slip)
        (operation,) = [
            call["operation_id"]
            for call in here(house, "show", run, "--json").json["calls"]
            if call["tool"] == "process_refund"
        ]
        assert here(house, "receipt", operation).code == 0
        for command in READING:
            of_what = {"watch": (run, "--no-follow"), "show": (run,), "journal": (run,)}
            looked = here(house, command, *of_what.get(command, ()))
            assert (looked.code, looked.err) == (0, ""), command
            assert looked.out, command

    def test_is_a_slip_again_when_the_run_has_ended(self, house: CommandLine) -> None:
        configure(house, WITH, BY_NAME)
        _, approval = asked(house)
        assert here(house, "deny", approval, "--reason", "no").code == 0
        configure(house, WITHOUT, BY_NAME)
        assert here(house, "recover").code == 2
        assert here(house, "runs").code == 0
