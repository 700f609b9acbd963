"""``--by`` names somebody who decides: they are looked up as for a click."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

from bot.sandbox.opened import OpenSandbox
from tests.cli.conftest import CommandLine, Ended


def test_nobody_is_looked_up_without_a_token(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    refused = pilothouse.inside("approve", approval, "--by", "U0BOB")
    assert refused.code == 2
    assert "SLACK_BOT_TOKEN is not set" in refused.err


def test_a_failed_look_up_refuses(pilothouse: CommandLine) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    pilothouse.settings |= {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_API_URL": "http://127.0.0.1:9/api/",
    }
    refused = pilothouse.inside("approve", approval, "--by", "U0BOB")
    assert refused.code == 5
    assert refused.err.startswith("Not decided: we could not look up in Slack who you are")
    assert pilothouse.ledger == {}


async def test_only_those_who_may_decide_count(
    sandbox: OpenSandbox, pilothouse: CommandLine
) -> None:
    pilothouse.settings |= {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_API_URL": sandbox.api_url,
    }
    _, approval = await asyncio.to_thread(pilothouse.ask, "refund ORD-3300 180")
    for stranger in ("U0ALICE", "U0CAROL", "U0DAVE", "U0ERIN", "U0NOBODY"):
        refused = await asyncio.to_thread(pilothouse.inside, "approve", approval, "--by", stranger)
        assert refused.code == 5, stranger
        assert refused.err.startswith("Not decided: "), stranger
    assert pilothouse.ledger == {}
    done = await asyncio.to_thread(pilothouse.inside, "approve", approval, "--by", "U0BOB")
    assert done.code == 0
    (listed,) = (await asyncio.to_thread(pilothouse.inside, "approvals", "--all", "--json")).json
    assert listed["decision"]["by"] == "slack:T0PILOT:U0BOB"
    assert listed["decision"]["claimed_by"].startswith("cli:")


async def test_a_yes_that_is_not_enough_waits_for_another(
    sandbox: OpenSandbox, pilothouse: CommandLine
) -> None:
    """Whoever said yes before must be somebody who may decide when it is counted."""
    _ask_two(pilothouse)
    pilothouse.settings |= {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_API_URL": sandbox.api_url,
    }
    users = sandbox.inside.workspace.users

    def approve(approval: str, user: str) -> Ended:
        return pilothouse.inside("approve", approval, "--by", user)

    _, approval = await asyncio.to_thread(pilothouse.ask, "refund ORD-3300 180")
    voted = await asyncio.to_thread(approve, approval, "U0BOB")
    assert (voted.code, len(voted.lines)) == (3, 1)
    assert voted.lines[0] == "human vote: approve (1 more yes)"
    again = await asyncio.to_thread(approve, approval, "U0BOB")
    assert (again.code, again.out) == (5, "")
    assert "is counted already. Still needed: 1 more yes." in again.err
    users["U0BOB"] = replace(users["U0BOB"], deleted=True)
    alone = await asyncio.to_thread(approve, approval, "U0FRANK")
    assert (alone.code, len(alone.lines)) == (3, 1)
    assert alone.lines[0] == "human vote: approve (1 more yes)"
    assert pilothouse.ledger == {}
    users["U0BOB"] = replace(users["U0BOB"], deleted=False)
    together = await asyncio.to_thread(approve, approval, "U0FRANK")
    assert together.code == 0
    assert pilothouse.ledger == {"ORD-3300": 180.0}
    (asked,) = (await asyncio.to_thread(pilothouse.inside, "approvals", "--all", "--json")).json
    assert [vote["by"].split(":")[-1] for vote in asked["votes"]] == ["U0BOB", "U0FRANK"]


async def test_a_refusal_is_taken_down(sandbox: OpenSandbox, pilothouse: CommandLine) -> None:
    pilothouse.settings |= {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_API_URL": sandbox.api_url,
    }
    _, approval = await asyncio.to_thread(pilothouse.ask, "refund ORD-3300 180")
    for user in ("U0ALICE", "U0CAROL", "U0CAROL"):
        refused = await asyncio.to_thread(pilothouse.inside, "approve", approval, "--by", user)
        assert refused.code == 5
    assert _refusals(pilothouse.folder) == [
        ("slack:T0PILOT:U0ALICE", "not_allowed"),
        ("slack:?:U0CAROL", "not_allowed"),
    ]


def _ask_two(pilothouse: CommandLine) -> None:
    config = pilothouse.folder / "two.yml"
    config.write_text(
        "agents:\n  refunds: {model: demo, tools: [bot.demo.tools]}\n"
        "policy:\n  - tool: process_refund\n    action: ask\n"
        "    approvers: {users: [U0BOB, U0FRANK], count: 2}\n"
        "  - {tool: send_voucher, action: deny}\n"
    )
    pilothouse.settings["PILOTHOUSE_CONFIG"] = str(config)


def _refusals(folder: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(folder / "data" / "pilothouse.db")
    rows = connection.execute("SELECT body FROM control_journal ORDER BY seq").fetchall()
    connection.close()
    events = [json.loads(body) for (body,) in rows]
    assert all(event["claimed_by"].startswith("cli:") for event in events)
    return [(event["by"], event["code"]) for event in events]
