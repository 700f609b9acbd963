"""``approve --for``, ``grants`` and ``revoke``: by the real command, exit codes taken literally."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.rules.control import GrantGiven
from agent.rules.ids import GrantId, Principal, SessionId
from agent.rules.standing import Grant
from agent.rules.veiling import Schemas
from bot.cli.granting import grant_cells, grant_shape
from bot.sandbox.opened import OpenSandbox
from tests.cli.conftest import CommandLine, Ended

MINUTE = r"\d{4}-\d\d-\d\d \d\d:\d\d"

CONFIG = """\
owners: {users: [U0BOB]}
agents:
  refunds: {model: demo, tools: [bot.demo.tools]}
policy:
  - {tool: search_policy, action: allow}
  - {tool: process_refund, action: ask, grants: {scopes: [run, thread], longest: 8h}}
"""


@pytest.fixture(autouse=True)
def _configured(pilothouse: CommandLine) -> None:
    file: Path = pilothouse.folder / "pilothouse.yml"
    file.write_text(CONFIG)
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(file)


def ask(pilothouse: CommandLine, text: str = "refund ORD-7 50", session: str = "ses_1") -> str:
    run = pilothouse.inside("run", text, "--session", session, "--json").json
    assert run["status"] == "waiting", run
    approval: str = run["approvals"][0]
    return approval


def test_a_conversation_is_not_asked_again_about_the_same_call(pilothouse: CommandLine) -> None:
    allowed = pilothouse.inside("approve", ask(pilothouse), "--for", "thread", "--lasts", "2h")
    assert allowed.code == 0
    (grant,) = pilothouse.inside("grants", "--json").json
    assert (grant["tool"], grant["session"]) == ("process_refund", "ses_1")
    assert grant["by"].startswith("cli:")
    assert set(grant["where"]) == {"order", "amount"}
    again = pilothouse.inside("run", "refund ORD-7 50", "--session", "ses_1", "--json")
    assert (again.code, again.json["status"]) == (0, "finished")
    shown = pilothouse.inside("show", again.json["id"]).out
    assert f"process_refund: ok, under {grant['id']}, receipt committed" in shown
    assert pilothouse.inside("run", "refund ORD-8 50", "--session", "ses_1").code == 3


SECRET = {"type": "string", "writeOnly": True, "format": "password"}


@pytest.mark.parametrize(
    ("schemas", "shown"),
    [
        (
            {"log_in": {"properties": {"user": {}, "vault": SECRET}}},
            '{"user":"bob","vault":"••••••••(7 characters)"}',
        ),
        # Of a tool that is gone nobody knows which of them is one.
        ({}, '{"user":"••••••••(3 characters)","vault":"••••••••(7 characters)"}'),
    ],
)
def test_a_secret_among_the_values_of_a_grant_is_masked(schemas: Schemas, shown: str) -> None:
    given = GrantGiven(
        grant_id=GrantId("grt_1"),
        by=Principal("cli:bob"),
        agent="tester",
        tool="log_in",
        where={"user": "bob", "vault": "hunter2"},
        session=SessionId("ses_1"),
    )
    shape = grant_shape(Grant(given, 1, datetime(2026, 11, 29, tzinfo=UTC)), schemas)
    assert "hunter2" not in str(shape)
    assert grant_cells(shape)[-1] == shown


def test_what_is_revoked_is_asked_about_again(pilothouse: CommandLine) -> None:
    pilothouse.inside("approve", ask(pilothouse), "--for", "thread")
    shown = pilothouse.inside("grants").out
    (grant,) = [word for word in shown.split() if word.startswith("grt_")]
    revoked = pilothouse.inside("revoke", grant, "--reason", "enough")
    assert revoked.code == 0
    assert revoked.out == f"{grant} holds no more: process_refund is asked about again.\n"
    assert pilothouse.inside("grants").out == "No grant holds.\n"
    assert ask(pilothouse)
    again = pilothouse.inside("revoke", grant)
    assert (again.code, again.out) == (5, "")
    assert re.fullmatch(
        rf"Nothing was done: cli:\S+ revoked {grant} at {MINUTE} UTC already.\n", again.err
    )
    unknown = pilothouse.inside("revoke", "grt_none")
    assert unknown.code == 2
    assert unknown.err.endswith("To list those that hold: pilothouse grants\n")


def test_what_a_run_was_given_holds_no_longer_than_it(pilothouse: CommandLine) -> None:
    allowed = pilothouse.inside("approve", ask(pilothouse), "--for", "run", "--json")
    assert (allowed.code, allowed.json["status"]) == (0, "finished")
    assert pilothouse.inside("grants").out == "No grant holds.\n"


def test_the_list_has_times_and_people_as_other_lists_do(pilothouse: CommandLine) -> None:
    pilothouse.inside("approve", ask(pilothouse, f"refund ORD-{'7' * 30} 50"), "--for", "thread")
    header, row = pilothouse.inside("grants").lines
    assert header.split()[:4] == ["GRANT", "TOOL", "UNTIL", "BY"]
    _, tool, until, by, *_ = re.split(r" {2,}", row)
    assert tool == "process_refund"
    assert re.fullmatch(MINUTE, until)
    assert by.startswith("cli:")


async def test_a_person_takes_back_what_concerns_them(
    sandbox: OpenSandbox, pilothouse: CommandLine
) -> None:
    approval = await asyncio.to_thread(ask, pilothouse)
    await asyncio.to_thread(pilothouse.inside, "approve", approval, "--for", "thread")

    def revoke(user: str) -> Ended:
        (grant,) = pilothouse.inside("grants", "--json").json
        return pilothouse.inside("revoke", grant["id"], "--by", user)

    refused = await asyncio.to_thread(revoke, "U0BOB")
    assert refused.code == 2
    assert "SLACK_BOT_TOKEN is not set. Nothing was revoked." in refused.err
    pilothouse.settings["SLACK_BOT_TOKEN"] = "xoxb-sandbox"
    pilothouse.settings["SLACK_API_URL"] = "http://127.0.0.1:9/api/"
    refused = await asyncio.to_thread(revoke, "U0BOB")
    assert refused.code == 5
    assert refused.err.startswith("Not revoked: we could not look up in Slack who you are")
    pilothouse.settings["SLACK_API_URL"] = sandbox.api_url
    for stranger in ("U0FRANK", "U0CAROL", "U0NOBODY"):
        refused = await asyncio.to_thread(revoke, stranger)
        assert refused.code == 5, stranger
        assert refused.err.startswith("Not revoked: "), stranger
    assert (await asyncio.to_thread(revoke, "U0BOB")).code == 0
    assert (await asyncio.to_thread(pilothouse.inside, "grants")).out == "No grant holds.\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--for", "run", "--lasts", "9h"], "a grant for 8 h at most"),
        (["--for", "run", "--lasts", "soon"], "no length of time"),
        (["--lasts", "2h"], "--for run or --for thread"),
        (["--any-arguments"], "--for run or --for thread"),
        (["--for", "ever"], "Say run or thread, not 'ever'."),
    ],
)
def test_what_can_not_be_allowed_decides_nothing(
    options: list[str], why: str, pilothouse: CommandLine
) -> None:
    approval = ask(pilothouse)
    refused = pilothouse.inside("approve", approval, *options)
    assert refused.code == 2
    assert why in refused.err
    assert pilothouse.inside("approve", approval).code == 0, "it was open still"
