"""What the menu of a card offers: decisions with words, grants, and why people are asked at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent import Policy
from agent.rules.control import DecisionRefused
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import opening
from bot.slack.ids import (
    APPROVE,
    APPROVE_ALL,
    APPROVE_MODAL,
    DENY,
    DENY_ALL,
    DENY_MODAL,
    GRANT_MODAL,
    MORE,
    STEER,
    STEER_MODAL,
)
from bot.slack.people import KEPT_SECONDS
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in
from tests.sandbox.passing import time_passes

RULE: Mapping[str, Any] = {
    "tool": "process_refund",
    "action": "ask",
    "reason": "refunds are asked",
    "approvers": {"groups": ["S0FINANCE"]},
    "grants": {"scopes": ["run", "thread"], "longest": "4h"},
}


@pytest.fixture
def rule() -> Mapping[str, Any]:
    return RULE


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, rule: Mapping[str, Any]) -> AsyncIterator[Bot]:
    policy = Policy.model_validate({"rules": [dict(rule)]})
    async with bot_in(sandbox, tmp_path, agent=refunds(policy)) as connected:
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    """Of a run that Alice started and that waits for finance."""
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    posted, _, _ = await bot.post_card()
    return posted


async def choose(bot: Bot, user: str, card: Json, wish: str) -> Json:
    approval, _ = (await bot.runtime.approvals(waiting_only=False))[0]
    return await bot.click(user, card, MORE, selected=f"{wish}|{approval.id}")


async def forge(bot: Bot, user: str, card: Json, sent: object) -> None:
    """A choice in the menu that the menu does not offer."""
    click = {
        "type": "block_actions",
        "user": {"id": user, "team_id": "T0PILOT"},
        "trigger_id": bot.sandbox.inside.triggers.issue(user),
        "container": {"channel_id": card["channel"], "message_ts": card["ts"]},
        "actions": [{"action_id": MORE, "selected_option": {"value": sent}}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", click)


async def ended(bot: Bot) -> tuple[RunState, str]:
    (state,) = await bot.runs()
    state = await bot.ended_run(state.run_id)
    (call,) = state.calls.values()
    assert call.result is not None
    return state, call.result.outcome


async def is_open(bot: Bot) -> bool:
    return [one.status for one, _ in await bot.runtime.approvals(waiting_only=False)] == ["pending"]


async def menu(bot: Bot, card: Json) -> list[str]:
    message = await bot.message(card)
    (found,) = [
        element
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == MORE
    ]
    return [option["value"].partition("|")[0] for option in found["options"]]


async def test_a_denial_carries_the_reason_of_its_form(bot: Bot, card: Json) -> None:
    await choose(bot, "U0BOB", card, "deny_reason")
    said = await bot.submit("U0BOB", reason="too much & too soon")
    assert said["acknowledged"]
    state, outcome = await ended(bot)
    assert outcome == "denied"
    (approval,) = state.approvals.values()
    assert approval.decided is not None
    assert approval.decided.reason == "too much & too soon"


async def test_an_approval_carries_its_note(bot: Bot, card: Json) -> None:
    await choose(bot, "U0BOB", card, "approve_note")
    await bot.submit("U0BOB", note="as agreed")
    state, outcome = await ended(bot)
    assert outcome == "ok"
    (approval,) = state.approvals.values()
    assert approval.decided is not None
    assert (approval.decided.note, approval.decided.grant) == ("as agreed", None)
    assert await bot.runtime.grants() == []


@pytest.mark.parametrize(
    ("wish", "values", "lasts", "is_for_any"),
    [
        ("approve_run", {}, timedelta(hours=1), False),
        ("approve_thread", {"lasts": "14400", "values": "any"}, timedelta(hours=4), True),
    ],
)
async def test_an_approval_allows_the_same_beforehand(
    bot: Bot, card: Json, wish: str, values: dict[str, str], lasts: timedelta, is_for_any: bool
) -> None:
    await choose(bot, "U0BOB", card, wish)
    said = await bot.submit("U0BOB", **values)
    assert said["acknowledged"]
    state, outcome = await ended(bot)
    assert outcome == "ok"
    (grant,) = await bot.runtime.store.control.grants()
    given = grant.given
    is_run = wish == "approve_run"
    assert (given.run_id, given.session) == (
        (state.run_id, None) if is_run else (None, state.session)
    )
    assert given.by == "slack:T0PILOT:U0BOB"
    assert given.where == ({} if is_for_any else {"order": "ORD-3300", "amount": 180.0})
    assert given.expires_at is not None
    assert abs(given.expires_at - grant.at - lasts) < timedelta(seconds=5)


@pytest.mark.parametrize(
    ("rule", "offered"),
    [
        (RULE, ["deny_reason", "approve_note", "approve_run", "approve_thread", "why"]),
        (
            {**RULE, "grants": {"scopes": ["thread"]}},
            ["deny_reason", "approve_note", "approve_thread", "why"],
        ),
        (
            {name: said for name, said in RULE.items() if name != "grants"},
            ["deny_reason", "approve_note", "why"],
        ),
    ],
)
async def test_the_menu_offers_what_the_rule_allows_and_no_more(
    bot: Bot, card: Json, offered: list[str]
) -> None:
    assert await menu(bot, card) == offered
    approval, _ = await bot.waiting_run()
    for wish in {"approve_run", "approve_thread"} - set(offered):
        await forge(bot, "U0BOB", card, f"{wish}|{approval.id}")
        await bot.whispered("U0BOB", "lets nothing be allowed beforehand")
    assert bot.view("U0BOB") is None


async def test_why_is_explained_to_any_member_and_to_them_alone(bot: Bot, card: Json) -> None:
    approval, _ = await bot.waiting_run()
    await choose(bot, "U0ALICE", card, "why")
    told = await bot.whispered("U0ALICE", "Why “Refund an order” is asked")
    for words in (
        "refunds are asked",
        "ask process_refund",
        "any 1 of <!subteam^S0FINANCE>, not <@U0ALICE>",
        "for this run or this thread, for 4 h at most",
        approval.requested.policy_version,
    ):
        assert words in told
    assert bot.whispers("U0BOB") == []
    await bot.click("U0BOB", card, DENY)
    await ended(bot)
    await choose(bot, "U0BOB", card, "why")
    assert await bot.whispered("U0BOB", "Why “Refund an order” is asked")


@pytest.mark.parametrize("wish", ["deny_reason", "approve_note", "approve_run", "why"])
async def test_who_may_decide_nothing_here_sees_nothing(bot: Bot, card: Json, wish: str) -> None:
    for user, why in (("U0CAROL", "guests"), ("U0DAVE", "another workspace")):
        await choose(bot, user, card, wish)
        await bot.whispered(user, why)
        assert bot.view(user) is None
    assert await is_open(bot)


@pytest.mark.parametrize(
    "sent", ["deny_reason", "deny_reason|", "|apr_1", "why|run_1", "approve_all|{id}", "", 7, None]
)
async def test_a_forged_choice_is_answered_and_decides_nothing(
    bot: Bot, card: Json, sent: object
) -> None:
    approval, _ = await bot.waiting_run()
    await forge(bot, "U0BOB", card, sent.format(id=approval.id) if isinstance(sent, str) else sent)
    await bot.whispered("U0BOB", "could not be read")
    assert await is_open(bot)


@pytest.mark.parametrize(
    ("wish", "values", "wrong"),
    [
        (
            "deny_reason",
            {"reason": {"value": {"type": "plain_text_input", "value": "  "}}},
            "reason",
        ),
        ("approve_note", {"note": {"value": {"value": "x" * 20_000}}}, "note"),
        ("approve_run", {"scope": {"value": {"selected_option": {"value": "world"}}}}, "scope"),
        ("approve_run", {"lasts": {"value": {"selected_option": {"value": "-1"}}}}, "lasts"),
        ("approve_run", {"lasts": {"value": {"selected_option": {"value": "99999"}}}}, "lasts"),
        ("approve_run", {"values": {"value": {"selected_option": None}}}, "values"),
    ],
)
async def test_a_forged_form_decides_nothing_and_says_what_is_wrong_where_it_is(
    bot: Bot, card: Json, wish: str, values: dict[str, Any], wrong: str
) -> None:
    await choose(bot, "U0BOB", card, wish)
    view = bot.view("U0BOB")
    assert view is not None
    filled = {
        "scope": {"value": {"selected_option": {"value": "run"}}},
        "lasts": {"value": {"selected_option": {"value": "900"}}},
        "values": {"value": {"selected_option": {"value": "exactly"}}},
    }
    payload = {
        "type": "view_submission",
        "user": {"id": "U0BOB", "team_id": "T0PILOT"},
        "view": {**view, "state": {"values": filled | values}},
    }
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    assert answer.reply.body["response_action"] == "errors"
    assert list(answer.reply.body["errors"]) == [wrong]
    assert await is_open(bot)


@pytest.mark.parametrize("wish", ["deny_reason", "approve_note", "approve_run"])
async def test_a_form_that_is_sent_too_late_says_who_was_first(
    bot: Bot, card: Json, wish: str
) -> None:
    await choose(bot, "U0BOB", card, wish)
    await bot.click("U0FRANK", card, APPROVE)
    await ended(bot)
    await bot.submit("U0BOB", **({"reason": "no"} if wish == "deny_reason" else {"note": "yes"}))
    assert "<@U0FRANK> approved this" in str(bot.view("U0BOB"))
    assert "Nothing of yours was sent" in str(bot.view("U0BOB"))
    assert await bot.runtime.grants() == []


async def test_a_form_that_is_sent_twice_decides_once(bot: Bot, card: Json) -> None:
    await choose(bot, "U0BOB", card, "approve_run")
    view = bot.view("U0BOB")
    assert view is not None
    await bot.submit("U0BOB")
    payload = {
        "type": "view_submission",
        "user": {"id": "U0BOB", "team_id": "T0PILOT"},
        "view": {
            **view,
            "state": {
                "values": {
                    "scope": {"value": {"selected_option": {"value": "run"}}},
                    "lasts": {"value": {"selected_option": {"value": "900"}}},
                    "values": {"value": {"selected_option": {"value": "exactly"}}},
                }
            },
        },
    }
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    assert "Your decision stands: ✅ Approved by <@U0BOB>" in str(answer.reply.body)
    assert len(await bot.runtime.store.control.grants()) == 1


async def test_a_form_of_somebody_who_may_not_decide_is_refused_and_taken_down(
    bot: Bot, card: Json
) -> None:
    """As when they were put out of the group while it was open; here the form itself is forged."""
    approval, _ = await bot.waiting_run()
    for user, team in (("U0ALICE", "T0PILOT"), ("U0DAVE", "T0OTHER")):
        payload = {
            "type": "view_submission",
            "user": {"id": user, "team_id": team},
            "view": {
                "id": "V1",
                "callback_id": "approval.deny",
                "private_metadata": f'{{"approval": "{approval.id}"}}',
                "state": {"values": {"reason": {"value": {"value": "mine"}}}},
            },
        }
        answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
        assert "Not decided" in str(answer.reply.body)
    assert await is_open(bot)
    refused = [one.event for one in await bot.runtime.store.control.read()]
    assert [one.action for one in refused if isinstance(one, DecisionRefused)] == ["deny", "deny"]


@pytest.mark.parametrize(
    "callback_id",
    [APPROVE_MODAL, DENY_MODAL, GRANT_MODAL, STEER_MODAL, APPROVE_ALL, DENY_ALL],
)
async def test_forged_metadata_decides_nothing_and_is_answered(
    bot: Bot, card: Json, callback_id: str
) -> None:
    approval, _ = await bot.waiting_run()
    for metadata in (
        "",
        "{",
        "[]",
        '{"approval": 7}',
        f'"{approval.id}"',
        '{"approval": "apr_1 or 1"}',
        '{"group": "grp_1", "approvals": ["apr_1 or 1"]}',
        f'{{"group": "grp or", "approvals": ["{approval.id}"]}}',
    ):
        payload = {
            "type": "view_submission",
            "user": {"id": "U0BOB", "team_id": "T0PILOT"},
            "view": {
                "id": "V1",
                "callback_id": callback_id,
                "private_metadata": metadata,
                "state": {"values": {"reason": {"value": {"value": "mine"}}}},
            },
        }
        answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
        assert "could not be read" in str(answer.reply.body), metadata
    assert await is_open(bot)


async def forms_opened(bot: Bot, count: int) -> None:
    await bot.sandbox.until(
        lambda: len(bot.sandbox.calls("views.open")) == count, f"{count} forms are open"
    )


@pytest.mark.parametrize("action", [STEER, "deny_reason"])
async def test_a_slow_look_up_opens_a_form_that_shows_nothing_until_it_is_known_who_asks(
    bot: Bot, card: Json, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.05)
    bot.sandbox.faults.add(method="users.info", latency=4, times=2)
    for number, user in enumerate(("U0BOB", "U0ALICE"), 1):
        bot.seconds.ahead += KEPT_SECONDS
        clicking = asyncio.create_task(
            bot.click(user, card, action) if action == STEER else choose(bot, user, card, action)
        )
        await forms_opened(bot, number)
        assert not clicking.done()
        await time_passes(4)
        assert (await clicking)["acknowledged"]

    def shown(user: str, words: str) -> Json | None:
        view = bot.view(user)
        return view if view is not None and words in str(view) else None

    opened = [str(call) for call in bot.sandbox.calls("views.open")]
    assert len(opened) == 2
    assert not any("ORD-3300" in one for one in opened)
    await bot.sandbox.until(lambda: shown("U0BOB", "ORD-3300"), "Bob sees the form")
    told = await bot.sandbox.until(lambda: shown("U0ALICE", "Not decided: only"), "Alice is told")
    assert "ORD-3300" not in str(told)
    await bot.submit("U0BOB", **({"guidance": "no"} if action == STEER else {"reason": "no"}))
    await ended(bot)


@pytest.mark.parametrize(
    ("error", "words"),
    [("not_found", None), ("hash_conflict", None), ("internal_error", "click Steer again")],
)
async def test_a_form_that_can_not_be_filled_in_is_missed_only_by_who_still_looks_at_it(
    bot: Bot, card: Json, error: str, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.0)
    bot.sandbox.faults.add(method="views.update", error=error)
    await bot.click("U0BOB", card, STEER)
    await bot.services.answering.drain(5)
    assert [words is not None and words in one for one in bot.whispers("U0BOB")] == (
        [True] if words else []
    )
    assert await is_open(bot)
