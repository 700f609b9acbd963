"""Every click on a card is answered, and what is said of it is so: whatever became of the question meanwhile,
and whichever way Slack sends the click."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from agent import Approve, Decider
from agent.rules.ids import EventId, Principal
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Stamped
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE, DENY, MORE, STEER
from tests.bot.slack.test_requests import post, served
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask

ALICE = Principal("slack:T0PILOT:U0ALICE")
FRANK = Decider(Principal("slack:T0PILOT:U0FRANK"), "U0FRANK", frozenset({"S0FINANCE"}))

#: Each way to act on a card: the action, and what is chosen in the menu.
ACTS: Final = (
    (APPROVE, None),
    (DENY, None),
    (STEER, None),
    (MORE, "deny_reason"),
    (MORE, "approve_note"),
)
Act = tuple[str, str | None]
#: Sends a payload as Slack does.
Send = Callable[[Json], Awaitable[None]]


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """Its store gives up soon; Alice's run waits for finance."""
    async with (
        bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.3)) as connected,
        drawing(connected),
    ):
        await connected.command("U0ALICE", "refund ORD-3300 180")
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    """As it was when people still saw its buttons."""

    async def posted() -> Json | None:
        roots = bot.sandbox.messages("C0SUPPORT")[-1:]
        thread = [one for root in roots for one in bot.sandbox.messages("C0SUPPORT", root["ts"])]
        return next((one for one in thread if APPROVE in str(one)), None)

    found: Json = await bot.sandbox.until(posted, "the card")
    return {**found, "channel": "C0SUPPORT"}


@pytest.fixture(params=["socket", "http"])
async def send(bot: Bot, request: pytest.FixtureRequest) -> AsyncIterator[Send]:
    async def by_socket(payload: Json) -> None:
        answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
        assert answer.reply.acknowledged
        await bot.services.answering.drain(5)

    if request.param == "socket":
        yield by_socket
        return
    async with served(bot) as address:

        async def by_http(payload: Json) -> None:
            body = urlencode({"payload": json.dumps(payload)}).encode()
            assert (await post(bot, address, body))[0] == 200
            await bot.services.answering.drain(5)

        yield by_http


def clicked(bot: Bot, card: Json, user: str, act: Act, value: str, team: str = "T0PILOT") -> Json:
    action, wish = act
    sent: Json = {"value": value} if wish is None else {}
    chosen: Json = {} if wish is None else {"selected_option": {"value": f"{wish}|{value}"}}
    return {
        "type": "block_actions",
        "user": {"id": user, "team_id": team},
        "trigger_id": bot.sandbox.inside.triggers.issue(user),
        "container": {
            "channel_id": card["channel"],
            "message_ts": card["ts"],
            "thread_ts": card["thread_ts"],
        },
        "actions": [{"action_id": action, **sent, **chosen}],
    }


async def approved_by_frank(bot: Bot, tmp_path: Path) -> None:
    approval, state = await bot.waiting_run()
    await bot.runtime.decide(approval.id, Approve(), FRANK)
    await bot.ended_run(state.run_id)


async def stopped(bot: Bot, tmp_path: Path) -> None:
    _, state = await bot.waiting_run()
    await bot.runtime.stop(state.run_id, ALICE)


async def expired(bot: Bot, tmp_path: Path) -> None:
    approval, state = await bot.waiting_run()
    ask(bot.url, "UPDATE approvals SET expires_at = 1")
    over = ApprovalExpired(approval_id=approval.id)
    stamped = Stamped(EventId("over"), bot.store.clock.now(), over)
    await bot.store.journal.intend(state.run_id, [stamped], expected_seq=state.seq)


async def replaced(bot: Bot, tmp_path: Path) -> None:
    approval, _ = await bot.waiting_run()
    await expired(bot, tmp_path)
    await bot.runtime.ask_again(approval.id, Decider(ALICE, "U0ALICE"))
    newer, _ = await bot.waiting_run()

    def is_posted() -> bool:
        return any(
            f"'value': '{newer.id}'" in str(bot.sandbox.messages("C0SUPPORT", root["ts"]))
            for root in bot.sandbox.messages("C0SUPPORT")
        )

    await bot.sandbox.until(is_posted, "the newer card")


async def unreadable(bot: Bot, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "pilothouse.db") as database:
        database.execute("update journal set body = replace(body, 'call_judged', 'call_dreamt')")
    database.close()


ENDINGS: Mapping[Callable[[Bot, Path], Awaitable[None]], str] = {
    approved_by_frank: "Too late: <@U0FRANK> approved this at <!date^",
    stopped: "stopped by <@U0ALICE>",
    expired: "<@U0ALICE>, or whoever may decide it, can ask it again.",
    replaced: "|Look at it>.",
    unreadable: "can't be read by the version that runs now",
}


@pytest.mark.parametrize(("ending", "words"), ENDINGS.items())
async def test_whoever_comes_too_late_is_told_what_became_of_it(
    bot: Bot,
    card: Json,
    send: Send,
    tmp_path: Path,
    ending: Callable[..., Awaitable[None]],
    words: str,
) -> None:
    approval, _ = await bot.waiting_run()
    await ending(bot, tmp_path)
    for number, act in enumerate(ACTS, 1):
        await send(clicked(bot, card, "U0BOB", act, approval.id))
        told = bot.whispers("U0BOB")
        assert len(told) == number, act
        assert words in told[-1], act
    assert bot.view("U0BOB") is None


@pytest.mark.parametrize(
    ("user", "team", "words"),
    [
        (
            "U0ALICE",
            "T0PILOT",
            "only <!subteam^S0FINANCE> can decide this, and not the person who asked",
        ),
        ("U0CAROL", "T0PILOT", "guests"),
        ("U0DAVE", "T0OTHER", "another workspace"),
        # The same id, from elsewhere, is somebody else.
        ("U0BOB", "T0OTHER", "another workspace"),
        ("U0ERIN", "T0PILOT", "deactivated"),
        ("U0NOBODY", "T0PILOT", "can't be found"),
        ("U0PILOT", "T0PILOT", "apps can't"),
    ],
)
async def test_whoever_may_not_decide_is_told_so_and_nothing_is_decided(
    bot: Bot, card: Json, send: Send, user: str, team: str, words: str
) -> None:
    approval, _ = await bot.waiting_run()
    for act in ACTS:
        await send(clicked(bot, card, user, act, approval.id, team))
    told = [str(one["arguments"]) for one in bot.sandbox.calls("chat.postEphemeral")]
    assert len(told) == len(ACTS)
    assert all(words in one for one in told)
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]


async def test_an_approval_of_no_run_of_ours_is_answered(bot: Bot, card: Json, send: Send) -> None:
    for number, act in enumerate(ACTS, 1):
        await send(clicked(bot, card, "U0BOB", act, "apr_01a227a1ed0e7727ad0133678f5782ad"))
        assert len(bot.whispers("U0BOB")) == number
        assert bot.whispers("U0BOB")[-1] == "Not decided: we know of no such question."


async def test_while_the_store_is_away_everybody_is_told_that_nothing_was_decided(
    bot: Bot, card: Json, send: Send, tmp_path: Path
) -> None:
    approval, _ = await bot.waiting_run()
    away = sqlite3.connect(tmp_path / "pilothouse.db", isolation_level=None)
    away.execute("BEGIN EXCLUSIVE")
    try:
        await send(clicked(bot, card, "U0BOB", (APPROVE, None), approval.id))
        await send(clicked(bot, card, "U0FRANK", (DENY, None), approval.id))
    finally:
        away.execute("ROLLBACK")
        away.close()
    for user in ("U0BOB", "U0FRANK"):
        assert "Nothing has changed; please try again" in bot.whispers(user)[-1]
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]
