"""Modals: what an app may answer to a submission, and how they close."""

from __future__ import annotations

import pytest

from bot.sandbox.guesses import Guesses
from tests.sandbox.driving import driving, modal, text_input
from tests.sandbox.hearing import Hearing, Json, hearing


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors"},
        {"response_action": "errors", "errors": {"b": "No such input."}},
        {"response_action": "errors", "errors": {"a": 5}},
        {"response_action": "update"},
        {"response_action": "push", "view": {"type": "home", "blocks": []}},
    ],
)
async def test_answers_to_a_submission_are_checked(app: Hearing, answer: Json) -> None:
    view_id = await app.open(modal(text_input("a")))
    app.answers = [answer]
    said = await app.act("submit", view_id=view_id, values={"a": "x"})
    assert said["error"] == "invalid_arguments"
    assert app.violations == ["refused_acknowledgement"]
    assert await shown(app) == [view_id]


async def shown(app: Hearing) -> list[str]:
    """The ids of Bob's modals, the topmost last."""
    return [view["id"] for view in await app.driver.get("/sandbox/views?as=U0BOB")]


async def test_errors_are_shown_and_what_is_not_filled_in_keeps_its_value(app: Hearing) -> None:
    view_id = await app.open(modal(text_input("amount", initial_value="180"), text_input("order")))
    kept = await app.act("submit", view_id=view_id, values={})
    assert kept["errors"] == {"order": "Please complete this required field."}
    assert (kept["acknowledged"], app.heard) == (False, [])

    app.answers = [{"response_action": "errors", "errors": {"amount": "Too much."}}]
    filled = {"amount": 200, "order": "ORD-1"}
    refused = await app.act("submit", view_id=view_id, values=filled)
    assert (refused["acknowledged"], refused["errors"]) == (True, {"amount": "Too much."})
    (view,) = await app.driver.get("/sandbox/views?as=U0BOB")
    assert view["errors"] == {"amount": "Too much."}

    taken = await app.act("submit", view_id=view_id, values={"order": "ORD-1"})
    assert "errors" not in taken
    amounts = [one["view"]["state"]["values"]["amount"]["value"]["value"] for one in app.heard]
    assert amounts == ["200", "180"]
    assert await shown(app) == []


async def test_a_submission_pushes_updates_or_clears(app: Hearing) -> None:
    first = await app.open(modal())
    app.answers = [
        {"response_action": "push", "view": modal()},
        {"response_action": "update", "view": modal(callback_id="updated")},
        {"response_action": "clear"},
    ]
    second = (await app.act("submit", view_id=first, values={}))["view_id"]
    assert await shown(app) == [first, second]
    await app.act("submit", view_id=second, values={})
    assert await shown(app) == [first, second]
    assert app.driver.running.views("U0BOB")[1]["callback_id"] == "updated"
    await app.act("submit", view_id=second, values={})
    assert await shown(app) == []


async def test_a_fourth_modal_on_the_stack_is_one_too_many(app: Hearing) -> None:
    view_id = await app.open(modal())
    for _ in range(2):
        view_id = await app.push(modal())
    app.answers = [{"response_action": "push", "view": modal()}]
    said = await app.act("submit", view_id=view_id, values={})
    assert said["error"] == "push_limit_reached"


async def test_closing_shows_the_view_below_and_clearing_none(app: Hearing) -> None:
    below = await app.open(modal(notify_on_close=True))
    above = await app.push(modal(notify_on_close=True))
    await app.act("close", view_id=above)
    assert await shown(app) == [below]
    assert [one["is_cleared"] for one in app.heard] == [False]

    quiet = await app.push(modal())
    assert (await app.act("close", view_id=quiet))["acknowledged"], "nobody had to be told"
    assert len(app.heard) == 1

    await app.push(modal())
    top = await app.push(modal(notify_on_close=True))
    await app.act("close", view_id=top, all=True)
    assert await shown(app) == []
    cleared = [(one["view"]["id"], one["is_cleared"]) for one in app.heard[1:]]
    assert cleared == [(top, True), (below, True)], "the one between did not ask to be told"


async def test_whether_each_cleared_view_is_told_is_a_guess() -> None:
    guesses = Guesses(each_cleared_view_is_told=False)
    async with driving(guesses=guesses) as driver, hearing(driver) as app:
        await app.open(modal(notify_on_close=True))
        top = await app.push(modal(notify_on_close=True))
        await app.act("close", view_id=top, all=True)
        assert [one["view"]["id"] for one in app.heard] == [top]


async def test_a_view_may_clear_the_stack_when_it_is_closed(app: Hearing) -> None:
    await app.open(modal())
    top = await app.push(modal(clear_on_close=True, notify_on_close=True))
    await app.act("close", view_id=top)
    assert [one["is_cleared"] for one in app.heard] == [True]
    assert await shown(app) == []
