"""The file with all of a question: plain text in which nothing is left out and nothing can be forged."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from agent.ports import ThreadMessage
from agent.ports.threads import MessageStatus
from agent.rules.secret_texts import MASK
from agent.rules.state import Approval, RunState
from bot.slack.cards.in_full import LONGEST, InFull, is_file_needed
from bot.slack.ids import APPROVE
from bot.slack.thread.as_drawn import redrawn_card
from bot.slack.thread.files import is_attached, is_shown
from bot.slack.thread.keys import file_key, place_key
from tests.agent.rules.histories import asked, begun, denied, judged, replied
from tests.bot.cards.stories import ANY_TWO, yes

LONG = "x" * 45_000


def question(args: dict[str, JsonValue], preview: str | None = None) -> tuple[Approval, RunState]:
    request = asked(1, args=args, preview=preview, approvers=ANY_TWO)
    state = begun().then(replied(1)).then(judged(1, "ask", args=args)).then(request).state
    return state.approvals[request.approval_id], state


def read(args: dict[str, JsonValue], preview: str | None = None) -> str:
    approval, state = question(args, preview)
    return InFull(approval, state.call(approval.requested.of_call)).content().decode()


def test_it_names_each_part_and_shows_all_of_it() -> None:
    told = read({"order": "ORD-1", "amount": "180", "script": f"{LONG}\n end\n"}, "It goes.")
    lines = told.split("\n")
    assert [one for one in lines if one[:1].isdigit()] == [
        "1. Order",
        "2. Amount",
        "3. script",
        "4. What will happen",
    ]
    assert "It has 4 parts" in told
    assert lines[lines.index("2. Amount") + 1] == "| $180.00"
    after = lines.index("3. script")
    assert lines[after + 1 : after + 4] == [f"| {LONG}", "|  end", "| "]
    assert lines[-1] == "| It goes."
    assert asked(1, args={"order": "ORD-1"}).hash not in told
    approval, _ = question({"order": "ORD-1"})
    assert approval.requested.hash in read({"order": "ORD-1"})


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\u2028", "\x0b", "\x85"])
def test_no_value_can_look_like_the_title_of_another(end: str) -> None:
    told = read({"script": f"a{end}{end}2. Amount{end}| $1.00", "amount": 5})
    assert [one for one in told.splitlines() if one.startswith("2. ")] == ["2. script"]


def test_secrets_are_masked_also_far_behind_and_what_is_hidden_is_shown() -> None:
    told = read({"password": "k3y", "script": f"{LONG} token=abcdef \u202e \u200b"})
    assert "k3y" not in told
    assert "abcdef" not in told
    assert told.count(MASK) == 3, "of both, and of the line that says so"
    assert "⟦U+202E⟧ ⟦U+200B⟧" in told
    assert "Secrets are masked" in told
    assert "Hidden characters" in told


def test_it_is_needed_where_nothing_else_shows_it_and_it_is_not_too_long() -> None:
    for script, is_needed in ((LONG, True), ("ls", False), ("x" * (LONGEST + 1), False)):
        approval, state = question({"script": script})
        assert is_file_needed(approval, state.call(approval.requested.of_call)) == is_needed
    over = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1, args={"a": LONG}))
    state = over.then(denied(1)).state
    (approval,) = state.approvals.values()
    assert not is_file_needed(approval, state.call(approval.requested.of_call))


def test_who_has_said_yes_leaves_the_card_to_be_approved_by_the_next() -> None:
    args: dict[str, JsonValue] = {"script": LONG}
    request = asked(1, args=args, approvers=ANY_TWO)
    history = begun().then(replied(1)).then(judged(1, "ask", args=args, approvers=ANY_TWO))
    state = history.then(request).then(yes()).state
    card = redrawn_card(request.approval_id, state, among_others=False, channel=None)
    assert APPROVE in str(card.blocks)


def test_it_counts_only_where_this_person_is_asked_and_for_what_it_was_made_of() -> None:
    approval, state = question({"script": LONG})

    def attached(
        place: str | None, user: str, digest: str, status: MessageStatus = "posted"
    ) -> bool:
        key = file_key(approval.id, place)
        row = ThreadMessage(key, status, "C0OPS/1.0", digest, approval.requested_at)
        return is_attached({key: row}, approval, state, user)

    ours = f"{approval.requested.hash} F1"
    assert attached(None, "U0BOB", ours)
    assert attached("U0BOB", "U0BOB", ours)
    assert not attached("U0BOB", "U0FRANK", ours)
    assert not attached(None, "U0BOB", "another F1")
    assert not attached(None, "U0BOB", ours, "posting")
    assert not attached(None, "U0BOB", "")


def test_the_threads_file_counts_for_nobody_who_is_asked_elsewhere() -> None:
    approval, state = question({"script": LONG})
    file, card = file_key(approval.id), place_key(approval.id, "U0BOB")
    rows = {
        key: ThreadMessage(key, "posted", "C0OPS/1.0", digest, approval.requested_at)
        for key, digest in ((file, f"{approval.requested.hash} F1"), (card, "shown"))
    }
    assert not is_attached(rows, approval, state, "U0BOB")
    assert is_attached(rows, approval, state, "U0FRANK")


@pytest.mark.parametrize(
    ("args", "is_told"),
    [({"order": "ORD-3300", "amount": 180}, True), ({"script": "x" * 300}, False)],
)
def test_what_stands_nowhere_can_be_approved_in_words_only_where_a_list_shows_all_of_it(
    args: dict[str, JsonValue], is_told: bool
) -> None:
    approval, state = question(args)
    assert is_shown({}, approval, state, "U0BOB") == is_told
