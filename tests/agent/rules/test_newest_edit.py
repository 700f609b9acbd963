"""However late an edit comes: what was said reads as whoever said it left it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.continuing import go_on_from
from agent.rules.events import RunFailed
from agent.rules.fold_messages import unheard, unheard_quote
from agent.rules.interventions import MessageReceived
from agent.rules.parts import Quoted
from agent.rules.people import delete, edit, is_overtaken, say
from agent.rules.replaying.replay import replay
from tests.agent.rules.happenings import edited, said
from tests.agent.rules.histories import ALICE, BEGAN, BOB, History, begun, replied

ROOT, QUOTE, REF = "C0/1.0", "C0/0.1", "C0/1.1"
REFS = (ROOT, QUOTE, REF)
HERS = Quoted(by=ALICE, text="mine too", ref=QUOTE)
TOLD = begun(ref=ROOT, quoted=(HERS,)).then(said("and ORD-1", ref=REF))
ASKED = TOLD.then(replied(1, asked_at=1))
T = [BEGAN + timedelta(seconds=n) for n in range(6)]


def edit_all(history: History, ref: str, edits: list[int]) -> History:
    """Each of them is of the moment by which it is named; every other one says the same."""
    for n in edits:
        text = f"only {n}" if n % 2 else "all of it"
        history = history.then(*edit(history.state, ALICE, ref, text, T[n]))
    return history


def words_at(history: History, ref: str) -> str | None:
    there = unheard(history.state, ref) or unheard_quote(history.state, ref)
    return there.text if there else None


@given(st.sampled_from(REFS), st.lists(st.integers(1, 5), min_size=1))
def test_in_whatever_order_edits_come_and_however_often_the_newest_holds(
    ref: str, edits: list[int]
) -> None:
    newest = max(edits)
    for history in (TOLD, ASKED) if ref == REF else (TOLD,):
        after = edit_all(history, ref, edits)
        assert words_at(after, ref) == (f"only {newest}" if newest % 2 else "all of it")
        assert edit_all(after, ref, edits).length == after.length, "delivered again"


@given(st.sampled_from(REFS), st.permutations([1, 2, 3]), st.integers(0, 3))
def test_what_is_deleted_is_gone_wherever_that_comes_among_its_edits(
    ref: str, edits: list[int], place: int
) -> None:
    before = edit_all(TOLD, ref, edits[:place])
    gone = before.then(*delete(before.state, ALICE, ref))
    assert edit_all(gone, ref, edits[place:]).length == gone.length
    assert words_at(gone, ref) is None


def test_what_is_edited_back_says_what_it_said_at_first() -> None:
    """Though what it said in between comes last."""
    for ref, text in zip(REFS, ("refund ORD-3300 180", "mine too", "and ORD-1"), strict=True):
        back = TOLD.then(*edit(TOLD.state, ALICE, ref, text, T[2]))
        assert edit(back.state, ALICE, ref, "only 10", T[1]) == ()
        assert words_at(back, ref) == text


def test_of_two_edits_of_one_moment_and_of_one_of_none_the_last_that_comes_holds() -> None:
    first = TOLD.then(*edit(TOLD.state, ALICE, REF, "only 10", T[2]))
    for moment in (T[2], None):
        after = first.then(*edit(first.state, ALICE, REF, "only 20", moment))
        assert words_at(after, REF) == "only 20"
        assert edit(after.state, ALICE, REF, "only 30", T[1]) == (), "it is still older"


def test_words_that_had_been_edited_when_they_came_are_left_as_they_are_by_older_edits() -> None:
    hers = HERS.model_copy(update={"as_of": T[2]})
    history = begun(ref=ROOT, as_of=T[2], quoted=(hers,))
    history = history.then(*say(history.state, ALICE, "only 30", REF, as_of=T[2]))
    for ref in REFS:
        assert edit(history.state, ALICE, ref, "only 20", T[1]) == ()
        assert edit(history.state, ALICE, ref, "only 40", T[3]) != ()


@pytest.mark.parametrize("is_heard", [False, True])
def test_an_edit_is_older_also_where_the_newer_one_was_heard(is_heard: bool) -> None:
    history = TOLD.then(edited(ROOT, "only 30", as_of=T[2]), edited(REF, "only 30", as_of=T[2]))
    if is_heard:
        history = history.then(replied(text="Done.", asked_at=history.length))
    for ref in (ROOT, REF):
        moments = [is_overtaken(history.state, ref, at) for at in (*T[1:4], None)]
        assert moments == [True, False, False, False]


def test_what_is_handed_on_is_as_of_the_same_edit() -> None:
    history = TOLD.then(edited(REF, "only 30", as_of=T[2]), RunFailed(error="no"))
    (again,) = (one for one in go_on_from(history.state) if isinstance(one, MessageReceived))
    following = begun(ref="C0/2.0").then(again)
    assert edit(following.state, ALICE, REF, "only 20", T[1]) == ()


def test_others_words_stay_theirs() -> None:
    assert edit(TOLD.state, BOB, REF, "only 30", T[5]) == ()


def test_a_journal_in_which_an_older_edit_holds_was_not_written_by_this_build() -> None:
    newer = edited(REF, "only 30", as_of=T[2])
    assert replay(TOLD.then(newer).recorded) == []
    forged = TOLD.then(newer, edited(REF, "only 20", as_of=T[1]))
    assert replay(forged.recorded) != []
