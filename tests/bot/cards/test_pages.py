"""What a card has no room for: whole in the pages of View all, or not to be approved."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.secret_texts import MASK
from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import approval_message, can_be_steered_to
from bot.slack.cards.arguments import describe_arguments
from bot.slack.cards.forms import approve_modal, deny_modal
from bot.slack.cards.in_full import is_in_slack_itself
from bot.slack.cards.pages import PAGES_LIMIT, pages_of
from bot.slack.cards.view_all import view_all_modal
from bot.slack.ids import APPROVE, VIEW
from tests.agent.rules.histories import asked, begun, denied, judged, replied
from tests.bot.cards.checking import check_view_limits, shown, texts

SCRIPT = "".join(f"{number:05} & <b> 😀é\n" for number in range(2_000))
#: A secret so long that nobody looks at what stands behind it.
BEHIND_A_SECRET = f"password={'x' * 45_000} rm -rf /"


def question(
    named: Mapping[str, JsonValue], preview: str | None = None, *, is_over: bool = False
) -> tuple[Approval, Call, RunState]:
    request = asked(1, args={}).model_copy(update={"args": dict(named), "preview": preview})
    history = begun().then(replied(1)).then(judged(1, "ask", args=named)).then(request)
    state = (history.then(denied(1, "no")) if is_over else history).state
    return state.approvals[request.approval_id], state.call(request.of_call), state


def pages(view: Mapping[str, object]) -> int:
    found = re.search(r"Page \d+ of (\d+)", json.dumps(view))
    return int(found[1]) if found else 1


def turns(view: Mapping[str, object]) -> list[str]:
    return re.findall(rf'"{re.escape(VIEW)}:(\d+)"', json.dumps(view))


@pytest.mark.parametrize("where", ["an argument", "the preview"])
def test_what_is_too_long_for_the_card_is_whole_in_the_pages(where: str) -> None:
    args = {"script": SCRIPT, "host": "web-1"} if where == "an argument" else {"host": "web-1"}
    approval, call, state = question(args, SCRIPT if where == "the preview" else None)
    first = view_all_modal(approval, call, state)
    views = [
        view_all_modal(approval, call, state, page=number) for number in range(1, pages(first) + 1)
    ]
    pieces = []
    for view in views:
        check_view_limits(view)
        for block in view["blocks"]:
            if block["type"] == "rich_text":
                pieces += [one for _, one in texts(block["elements"][1:])]
    assert "".join(pieces) == SCRIPT
    assert "web-1" in shown(first["blocks"])
    assert is_in_slack_itself(approval, call)


def test_pages_lead_to_their_neighbours_and_an_odd_number_to_the_nearest() -> None:
    approval, call, state = question({"script": SCRIPT})
    count = pages(view_all_modal(approval, call, state))
    assert count > 2
    for page, neighbours in (
        (1, ["2"]),
        (2, ["1", "3"]),
        (count, [str(count - 1)]),
        (0, ["2"]),
        (9_999, [str(count - 1)]),
    ):
        assert turns(view_all_modal(approval, call, state, page=page)) == neighbours


def test_a_card_that_shows_not_all_says_so_and_offers_view_all_beside_approve() -> None:
    approval, call, state = question({"script": SCRIPT})
    card = approval_message(approval, call, state)
    assert "This is not all of it" in shown(card.blocks)
    ids = [one["action_id"] for one in card.blocks[-1]["elements"]]
    assert (ids.count(APPROVE), ids.count(VIEW)) == (1, 1)
    short = approval_message(*question({"script": "ls"}))
    assert VIEW not in json.dumps(short.blocks)


@pytest.mark.parametrize(
    "named",
    [
        {"script": "x" * 45_000},
        {"script": "\u200b" * 30_000},
        {f"part {number}": "y" * 30_000 for number in range(8)},
        {"script": BEHIND_A_SECRET},
        {"password": "k3y", "script": BEHIND_A_SECRET},
    ],
    ids=["one", "hidden", "many", "behind a secret", "beside one"],
)
def test_what_no_page_shows_in_full_has_no_approve_and_says_why(
    named: dict[str, JsonValue],
) -> None:
    approval, call, state = question(named)
    assert not is_in_slack_itself(approval, call)
    card = approval_message(approval, call, state)
    assert "can't be approved here" in shown(card.blocks)
    assert "`approve" not in card.without_blocks
    ids = [one["action_id"] for one in card.blocks[-1]["elements"]]
    assert (ids.count(APPROVE), ids.count(VIEW)) == (0, 1)
    count = pages(view_all_modal(approval, call, state))
    assert count <= PAGES_LIMIT
    last = view_all_modal(approval, call, state, page=count)
    check_view_limits(last)
    assert "The rest is too long to be shown here" in shown(last["blocks"])


def test_a_change_must_leave_nothing_unseen() -> None:
    approval, call, _ = question({"script": "x" * 45_000, "host": "web-1"})
    assert not can_be_steered_to(approval, call, {"host": "web-2"})
    assert can_be_steered_to(approval, call, {"script": "ls"})
    # What the tool foresaw of the old call is no part of the new one.
    approval, call, _ = question({"host": "web-1"}, "x" * 45_000)
    assert can_be_steered_to(approval, call, {"host": "web-2"})


def test_a_masked_secret_in_the_pages_is_said_to_be_masked() -> None:
    approval, call, state = question({"password": "k3y", "script": SCRIPT})
    view = view_all_modal(approval, call, state)
    assert MASK in shown(view["blocks"])
    assert "Secrets are masked" in shown(view["blocks"])


def test_a_closed_question_does_not_say_that_it_is_open() -> None:
    view = view_all_modal(*question({"script": SCRIPT}, is_over=True))
    assert "no longer open" in shown(view["blocks"])
    assert "has not happened" not in shown(view["blocks"])


def test_nothing_at_all_is_one_page() -> None:
    assert pages_of(describe_arguments({}, {})) == (((),), True)


def test_a_form_says_that_it_does_not_show_all_and_what_is_masked() -> None:
    approval, call, _ = question({"script": SCRIPT, "password": "hunter2"})
    for view in (deny_modal(approval, call), approve_modal(approval, call)):
        read = shown(view["blocks"])
        assert "This is not all of it.* View all on the card shows more." in read
        assert "Secrets are masked here" in read
    approval, call, _ = question({"script": "make"})
    read = shown(deny_modal(approval, call)["blocks"])
    assert "This is not all of it" not in read
    assert "masked" not in read
