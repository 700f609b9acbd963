"""Wherever a dry run shows, it is said that nothing is carried out; and nowhere else."""

from __future__ import annotations

import json

import pytest

from agent.rules.events import CallRefused, RunFinished
from agent.rules.ids import CallId
from agent.rules.parts import Verdict
from agent.rules.shapes import approval_shape, run_shape
from agent.rules.state import RunState
from bot.cli.asking import asked_in_short
from bot.cli.beats import beat
from bot.slack.cards.answer import answer_messages
from bot.slack.cards.blocks import BLOCKS_LIMIT
from bot.slack.cards.card import card_of
from bot.slack.cards.home import Home, Own, home_view
from bot.slack.cards.home_asked import Asked
from bot.slack.cards.status import status_message
from bot.slack.cards.timeline_calls import words_of_call
from tests.agent.rules.histories import History, approved, asked, begun, judged, replied
from tests.bot.cards.stories import question

SAYS_SO = "🧪 *Dry run:*"
VERDICT = Verdict(action="ask", reason="-", rule="-", policy_version="1", dry_run=True)
REFUSED = CallRefused(
    call_id=CallId("call_1"),
    code="dry_run",
    message="This is a dry run: nothing happened.",
    verdict=VERDICT,
)


def dry(is_run: bool = True) -> History:
    """A call that people are asked about, in a run that is dry, or whose agent is by now."""
    judgement = judged(1, "ask")
    verdict = judgement.verdict.model_copy(update={"dry_run": True})
    question_ = asked(1).model_copy(update={"dry_run": True})
    history = begun(dry_run=is_run).then(replied(1))
    return history.then(judgement.model_copy(update={"verdict": verdict})).then(question_)


def shown(state: RunState) -> str:
    (approval,) = state.approvals.values()
    return json.dumps(card_of(approval, state).first.blocks, ensure_ascii=False)


@pytest.mark.parametrize("is_run", [True, False])
def test_a_card_says_so_before_and_after_its_decision(is_run: bool) -> None:
    history = dry(is_run)
    (approval,) = history.state.approvals.values()
    card = card_of(approval, history.state)
    assert (card.text.startswith("🧪 Dry run · "), card.first.text[:9]) == (True, "🧪 Dry run")
    assert "nothing is carried out" in card.without_blocks
    assert f"{SAYS_SO} whatever is decided, nothing is carried out." in shown(history.state)
    ended = history.then(approved(1)).then(REFUSED)
    assert "It did not happen. A dry run carries nothing out." in shown(ended.state)
    assert SAYS_SO in shown(ended.state)


def test_a_question_of_a_dry_run_says_so_and_a_real_run_nothing_of_the_kind() -> None:
    call = judged(1, "allow", effect="read", is_question=True)
    for is_dry in (True, False):
        history = begun(dry_run=is_dry).then(replied(1)).then(call).then(question())
        assert (SAYS_SO in shown(history.state)) is is_dry
    real = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1))
    assert SAYS_SO not in shown(real.state)
    assert "ry run" not in json.dumps(status_message(real.state).blocks)


def test_the_status_the_answer_the_home_tab_and_the_time_line_say_so() -> None:
    state = dry().then(approved(1)).then(REFUSED).then(replied(text="Refunded!")).state
    ended = dry().then(approved(1)).then(REFUSED).then(RunFinished(answer="Refunded!")).state
    status = status_message(ended)
    assert "🧪 Dry run · " in status.text
    said = json.dumps(status.blocks, ensure_ascii=False)
    assert f"{SAYS_SO} nothing is carried out." in said
    assert "dry run: not carried out" in said
    assert "Ended: nothing was done" in said
    (answer,) = answer_messages(ended)
    assert answer.blocks[0]["text"]["text"] == f"{SAYS_SO} nothing is carried out."
    assert len(answer.blocks) <= BLOCKS_LIMIT
    (waiting,) = dry().state.approvals.values()
    home = home_view(Home(waiting=[Asked(waiting, dry().state)], runs=[Own(state)]))
    assert json.dumps(home, ensure_ascii=False).count("🧪 Dry run · ") == 2
    told = words_of_call(REFUSED, ended.updated_at, ended) or ""
    assert told.endswith("dry run, not carried out")


def test_of_a_run_that_began_for_real_the_answer_says_how_many_were_not_carried_out() -> None:
    ended = dry(is_run=False).then(approved(1)).then(REFUSED).then(RunFinished(answer="Done."))
    (answer,) = answer_messages(ended.state)
    assert answer.blocks[0]["text"]["text"] == f"{SAYS_SO} 1 of its calls was not carried out."


def test_other_programs_and_the_command_line_see_it() -> None:
    history = dry().then(approved(1)).then(REFUSED)
    state = history.state
    shape = run_shape(state, now=state.updated_at)
    (approval,) = state.approvals.values()
    receipt = {"status": "rejected", "external_id": None, "dry_run": True}
    assert (shape["dry_run"], shape["calls"][0]["status"]) == (True, "dry_run")
    assert (shape["calls"][0]["receipt"], approval_shape(approval, state)["dry_run"]) == (
        receipt,
        True,
    )
    (waits,) = dry().state.approvals.values()
    assert asked_in_short(waits, dry().state).startswith("dry run: process_refund (")
    beats = [beat(one, state) or "" for one in history.recorded]
    assert beats[0] == "run started (dry run: nothing is carried out)"
    assert beats[3].endswith("; dry run), token apr_1")
    assert beats[-1] == "dry run: process_refund: not carried out"
