"""The Home tab over the wire: seen when it is opened, acted in, and true after each click in it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Final

import yaml

from agent import Approve, Decider
from agent.rules.ids import Principal
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import APPROVE, MORE, RUN_HOLD, STEER
from bot.slack.payloads import Actor
from tests.bot.slack.workspace import Bot, Json, bot_in, nobody_else_writes

MANIFEST = Path(__file__).parents[3] / "manifest.yml"
FRANK = Decider(Principal("slack:T0PILOT:U0FRANK"), "U0FRANK", frozenset({"S0FINANCE"}))
ALICE = Principal("slack:T0PILOT:U0ALICE")
NOTHING: Final = "Nothing waits for you."


def shown(bot: Bot, user: str) -> str:
    """All that stands in their tab; empty before it was published."""
    home = bot.sandbox.inside.views.homes.get(user)
    return "" if home is None else json.dumps(home["blocks"], ensure_ascii=False)


async def seen(bot: Bot, user: str, part: str) -> str:
    """The tab, as soon as these words are in it."""

    def found() -> str | None:
        return whole if part in (whole := shown(bot, user)) else None

    return await bot.sandbox.until(found, f"{user} sees {part!r}")


async def opened(bot: Bot, user: str, part: str) -> str:
    await bot.act(user, "home")
    return await seen(bot, user, part)


async def click(bot: Bot, user: str, action_id: str, **what: object) -> Json:
    home = bot.sandbox.inside.views.homes[user]
    return await bot.act(user, "click", view_id=home["id"], action_id=action_id, **what)


async def test_what_waits_is_decided_in_home_and_the_thread_and_the_home_show_it(
    drawn: Bot,
) -> None:
    await drawn.command("U0ALICE", "refund ORD-3300 180")
    approval, state = await drawn.waiting_run()
    told = await opened(drawn, "U0BOB", "Refund an order?")
    assert approval.id in told
    assert "$180.00" in told
    assert "You have no runs yet." in told
    theirs = await opened(drawn, "U0ALICE", "refund ORD-3300 180")
    assert NOTHING in theirs
    assert f"{RUN_HOLD}:1" in theirs
    await click(drawn, "U0BOB", f"{APPROVE}:1")
    told = await seen(drawn, "U0BOB", "Decided lately")
    assert NOTHING in told
    assert "✅ *Approved* by <@U0BOB>" in told
    await drawn.ended_run(state.run_id)
    await drawn.sandbox.until(
        lambda: "*Done*" in str(drawn.sandbox.messages("C0SUPPORT")), "its end is shown"
    )
    assert "✅ *Approved* by <@U0BOB>" in await opened(drawn, "U0ALICE", "Decided lately")


async def test_that_something_was_said_in_the_thread_is_read_without_its_words_wherever_it_can_be_decided(
    drawn: Bot,
) -> None:
    started = await drawn.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    _, state = await drawn.waiting_run()
    said = await drawn.say("U0FRANK", "hold your horses, 60 I said!", "C0SUPPORT", started["ts"])

    async def is_heard() -> bool:
        return bool((await drawn.runtime.state(state.run_id)).said)

    await drawn.sandbox.until(is_heard, "it is heard")
    told = await opened(drawn, "U0BOB", "1 message in its thread, by <@U0FRANK>")
    assert "horses" not in told
    there = f"{said['ts'].replace('.', '')}?thread_ts={started['ts']}&amp;cid=C0SUPPORT|look at it>"
    assert there in told
    pending = (await overview.pending(drawn.services, Actor("U0BOB", "T0PILOT"))).text
    assert "1 message in its thread, by <@U0FRANK>" in pending
    assert "horses" not in pending
    assert there in pending


async def test_what_the_tab_does_not_show_is_not_decided_in_it(bot: Bot) -> None:
    await bot.runtime.start("refund ORD-1", requester=ALICE)
    (shown_there, _) = await bot.waiting_run()
    await opened(bot, "U0BOB", shown_there.id)
    await bot.runtime.start("refund ORD-2", requester=ALICE)
    both = [one for one, _ in await bot.waiting_runs(2)]
    (other,) = [one.id for one in both if one.id != shown_there.id]
    await click(bot, "U0BOB", f"{APPROVE}:1", value=other)
    await seen(bot, "U0BOB", "Not decided: this is not on what you clicked.")
    assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"] * 2


async def test_a_form_that_was_opened_in_home_is_shown_there_when_it_is_sent_off(bot: Bot) -> None:
    await bot.runtime.start("refund ORD-3300", requester=ALICE)
    await bot.waiting_run()
    await opened(bot, "U0BOB", "Refund an order?")
    await click(bot, "U0BOB", f"{STEER}:1")
    await bot.sandbox.until(lambda: bot.view("U0BOB"), "the form")
    await bot.submit("U0BOB", guidance="Offer a voucher.")
    told = await seen(bot, "U0BOB", "Decided lately")
    assert "🛞 *Steered* by <@U0BOB>" in told
    assert NOTHING in told


def clicked(bot: Bot, user: str, act: str, approval_id: str) -> Json:
    """What Slack sends of a click in a tab that was published a while ago."""
    action, _, wish = act.partition("|")
    value = (
        {"selected_option": {"value": f"{wish}|{approval_id}"}} if wish else {"value": approval_id}
    )
    return {
        "type": "block_actions",
        "user": {"id": user, "team_id": "T0PILOT"},
        "trigger_id": bot.sandbox.inside.triggers.issue(user),
        "container": {"type": "view", "view_id": "V1"},
        "view": {"type": "home", "id": "V1", "hash": "of-a-while-ago"},
        "actions": [{"action_id": f"{action}:1", **value}],
    }


async def test_every_click_in_home_is_answered_on_top_of_it_as_it_is_by_then(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.1)) as bot:
        for number in range(3):
            await bot.runtime.start(f"refund ORD-{number}", requester=ALICE)
        (first, _), (second, state), (third, _) = await bot.waiting_runs(3)
        await bot.runtime.decide(first.id, Approve(), FRANK)
        await bot.runtime.stop(state.run_id, ALICE)

        async def told(user: str, act: str, approval_id: str) -> str:
            reply = await bot.sandbox.inside.outbox.interact(
                "interactive", clicked(bot, user, act, approval_id)
            )
            assert reply.reply.acknowledged
            await bot.services.answering.drain(5)
            return shown(bot, user)[:700]

        for act in (APPROVE, STEER):
            assert "Too late: <@U0FRANK> approved this" in await told("U0BOB", act, first.id)
        assert "stopped by <@U0ALICE>" in await told("U0BOB", APPROVE, second.id)
        assert "we know of no such question" in await told("U0BOB", APPROVE, "apr_none")
        assert "only <!subteam^S0FINANCE> can" in await told("U0ALICE", STEER, third.id)
        assert "Guests can't" in await told("U0CAROL", APPROVE, third.id)
        assert "*Why “Refund an order” is asked*" in await told("U0BOB", f"{MORE}|why", third.id)
        with nobody_else_writes(tmp_path):
            assert "our store can't be reached" in await told("U0BOB", APPROVE, third.id)
        assert [one.status for one, _ in await bot.runtime.approvals()] == ["pending"]
        assert bot.whispers("U0BOB") == []
        # What they had seen was not what stood there: it was read once more.
        seen_by_then = [one["arguments"].get("hash") for one in bot.sandbox.calls("views.publish")]
        assert seen_by_then.count(None) >= seen_by_then.count("of-a-while-ago") - 3


async def test_where_home_can_not_be_published_a_click_is_answered_directly(bot: Bot) -> None:
    await bot.runtime.start("refund ORD-3300", requester=ALICE)
    approval, _ = await bot.waiting_run()
    await opened(bot, "U0BOB", "Refund an order?")
    await bot.runtime.decide(approval.id, Approve(), FRANK)
    bot.sandbox.faults.add(method="views.publish", error="not_enabled")
    await click(bot, "U0BOB", f"{APPROVE}:1")

    def directly() -> bool:
        return any(
            "Too late" in str(one["arguments"]) for one in bot.sandbox.calls("chat.postMessage")
        )

    await bot.sandbox.until(directly, "Bob is told directly")


async def test_whoever_may_do_nothing_here_is_told_so_and_sees_nothing(bot: Bot) -> None:
    await bot.runtime.start("refund ORD-3300", requester=Principal("slack:T0PILOT:U0CAROL"))
    await bot.waiting_run()
    assert "refund" not in await opened(
        bot, "U0CAROL", "Guests can't start or decide anything here."
    )
    assert "refund" not in await opened(bot, "U0ERIN", "This account is deactivated.")


def test_slack_has_a_home_tab_and_tells_when_it_is_opened() -> None:
    manifest = yaml.safe_load(MANIFEST.read_text())
    assert manifest["features"]["app_home"]["home_tab_enabled"] is True
    assert "app_home_opened" in manifest["settings"]["event_subscriptions"]["bot_events"]
