"""A form that can't be opened, or not be filled in: what is said of it is so, whatever the question is by now."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from agent.rules.ids import Principal
from bot.sandbox.opened import OpenSandbox
from bot.slack import opening
from bot.slack.ids import MORE, STEER, VIEW
from tests.bot.slack.agents import scripts
from tests.bot.slack.workspace import Bot, Json, bot_in

LONG = "".join(f"echo {number:05}\n" for number in range(2_500))


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours, in what draws the form: no damage to the store is one that nobody thought of."""

    def draw(*_: object) -> Json:
        raise ZeroDivisionError

    # By its name: the folder calls its listener the same.
    monkeypatch.setattr(import_module("bot.slack.listeners.actions.steer"), "steer_modal", draw)


@pytest.fixture
async def card(bot: Bot) -> Json:
    return await posted(bot)


async def posted(bot: Bot) -> Json:
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    card, _, _ = await bot.post_card()
    return card


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("expired_trigger_id", "could not be opened in time. Please click {button} again."),
        ("exchanged_trigger_id", "could not be opened in time. Please click {button} again."),
        ("internal_error", "could not be opened. Please click {button} again."),
        (
            "invalid_arguments",
            "could not be opened, as Slack does not take it (invalid_arguments). Please tell whoever",
        ),
    ],
)
async def test_why_it_did_not_open_is_told_and_not_that_the_question_is_open(
    sandbox: OpenSandbox, tmp_path: Path, error: str, told: str
) -> None:
    async with bot_in(sandbox, tmp_path, agent=scripts(LONG)) as bot:
        card = await posted(bot)
        sandbox.faults.add(method="views.open", error=error)
        await bot.click("U0BOB", card, STEER)
        steer = await bot.whispered("U0BOB", told.format(button="Steer"))
        _, state = await bot.waiting_run()
        await bot.runtime.stop(state.run_id, Principal("slack:T0PILOT:U0ALICE"))
        sandbox.faults.add(method="views.open", error=error)
        await bot.click("U0BOB", card, VIEW)
        view = await bot.whispered("U0BOB", told.format(button="View all"))
        assert not any("still open" in one for one in (steer, view))


@pytest.mark.usefixtures("fault")
async def test_a_form_that_goes_wrong_while_it_is_drawn_does_not_stay_at_one_moment(
    bot: Bot, card: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.0)
    await bot.click("U0BOB", card, STEER)

    def is_told() -> bool:
        return "Nothing was decided: something went wrong on our side" in str(bot.view("U0BOB"))

    await bot.sandbox.until(is_told, "Bob is told in it")
    await bot.services.answering.drain(5)
    assert bot.whispers("U0BOB") == []


@pytest.mark.usefixtures("fault")
async def test_a_form_that_goes_wrong_at_once_is_not_opened_and_decides_nothing(
    bot: Bot, card: Json
) -> None:
    await bot.click("U0BOB", card, STEER)
    await bot.whispered("U0BOB", "Nothing was decided: something went wrong on our side")
    assert bot.view("U0BOB") is None


async def test_what_is_filled_in_replaces_only_the_form_that_was_opened(
    bot: Bot, card: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 0.0)
    approval, _ = await bot.waiting_run()
    await bot.click("U0BOB", card, MORE, selected=f"deny_reason|{approval.id}")
    filled = partial(bot.sandbox.calls, "views.update")
    (call,) = await bot.sandbox.until(filled, "it is filled in")
    (opened,) = bot.sandbox.calls("views.open")
    shown = opened["answer"]["view"]
    named = {one: call["arguments"][one] for one in ("view_id", "hash")}
    assert named == {"view_id": shown["id"], "hash": shown["hash"]}
