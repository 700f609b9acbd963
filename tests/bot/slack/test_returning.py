"""Back in a channel, what could not be shown there is shown at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.rules.ids import RunId
from bot.slack.fields import BadPayload
from bot.slack.ids import Place
from bot.slack.messages import returned_to
from tests.bot.slack.workspace import Bot

BOT = "U0PILOT"


def event(kind: str, **said: Any) -> dict[str, Any]:
    return {"team_id": "T0PILOT", "event": {"type": kind, "channel": "C0OPS", **said}}


@pytest.mark.parametrize(
    "body",
    [
        event("member_joined_channel", user=BOT),
        event("channel_unarchive", user="U0ALICE"),
        event("group_unarchive", user="U0ALICE"),
    ],
)
def test_we_are_back_when_we_are_invited_or_the_channel_is(body: dict[str, Any]) -> None:
    assert returned_to(body, BOT) == Place("T0PILOT", "C0OPS")


@pytest.mark.parametrize(
    "body",
    [
        event("member_joined_channel", user="U0ALICE"),
        event("member_left_channel", user=BOT),
        event("channel_archive", user="U0ALICE"),
    ],
)
def test_what_happens_to_others_brings_us_nowhere(body: dict[str, Any]) -> None:
    assert returned_to(body, BOT) is None


def test_an_event_that_names_no_channel_is_not_believed() -> None:
    with pytest.raises(BadPayload):
        returned_to({"team_id": "T0PILOT", "event": {"type": "channel_unarchive"}}, BOT)


@pytest.mark.parametrize("fault", [{"remove_bot": "C0OPS"}, {"archive": "C0SUPPORT"}])
async def test_the_threads_of_that_channel_are_tried_and_no_others(
    bot: Bot, tmp_path: Path, fault: dict[str, str]
) -> None:
    for channel in ("C0OPS", "C0SUPPORT"):
        await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", channel)
    runs = [state for _, state in await bot.waiting_runs(2)]
    (back,) = fault.values()
    await bot.sandbox.faults.now(**fault)
    bot.sandbox.faults.heal()
    here = next(one.run_id for one in runs if back in str(one.place))
    await bot.sandbox.until(lambda: asked_for(tmp_path)[here], "it is tried")
    await bot.services.answering.drain(5)
    assert sorted(asked_for(tmp_path).values()) == [False, True]


def asked_for(folder: Path) -> dict[RunId, bool]:
    """Which threads somebody has asked for."""
    with closing(sqlite3.connect(folder / "pilothouse.db")) as database:
        found = database.execute("SELECT run_id, asked_for_at FROM threads").fetchall()
    return {RunId(run_id): at is not None for run_id, at in found}
