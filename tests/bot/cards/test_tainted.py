"""Wherever a tainted call is asked about, whoever decides is told whose words the agent had read."""

from __future__ import annotations

import json

from agent.rules.parts import Taint
from agent.rules.shapes import approval_shape
from agent.rules.state import RunState
from bot.cli.asking import asked_in_short
from bot.slack.cards.card import card_of
from bot.slack.cards.home_asked import Asked, question_in_short
from bot.slack.cards.more import why_text
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import ALICE, BOB, History, asked, begun, judged, replied

TAINTS = (
    Taint(source="file", name="<!channel> *notes*.txt", by=ALICE),
    Taint(source="message", by=BOB),
    Taint(source="tool", name="git.git_log"),
)
SAID = (
    "Before it proposed this, the agent had read the file {} from <@U0ALICE>, a message by <@U0BOB>"
    " and the output of git.git_log. Those words may be behind it."
)


def state_with(*taints: Taint, calls: int = 1) -> RunState:
    numbers = range(1, calls + 1)
    history: History = begun().then(replied(*numbers))
    for number in numbers:
        judgement = judged(number, "ask")
        verdict = judgement.verdict.model_copy(update={"tainted_by": taints})
        history = history.then(judgement.model_copy(update={"verdict": verdict}))
    return history.then(*map(asked, numbers)).state


def shown(state: RunState) -> str:
    approval = next(iter(state.approvals.values()))
    return json.dumps(card_of(approval, state).first.blocks, ensure_ascii=False)


def test_a_card_says_what_had_been_read_as_data() -> None:
    state = state_with(*TAINTS)
    card = shown(state)
    before, _, after = SAID.partition("{}")
    assert before in card
    assert after in card
    assert "<!channel>" not in card
    (approval,) = state.approvals.values()
    assert "Before it proposed this, the agent had read" in card_of(approval, state).without_blocks
    assert "Before it proposed this" not in shown(state_with())


def test_each_call_of_a_shared_card_says_it() -> None:
    (card,) = [
        one
        for one in desired(state_with(*TAINTS, calls=2))
        if one.key.startswith("approval:") and not one.is_past
    ]
    assert json.dumps(card.message.blocks).count("Before it proposed this") == 2


def test_why_am_i_asked_the_home_tab_and_the_command_line_say_it() -> None:
    state = state_with(TAINTS[2])
    (approval,) = state.approvals.values()
    (call,) = state.calls.values()
    said = "Before it proposed this, the agent had read the output of git.git_log"
    assert said in why_text(approval, call, state)
    home = json.dumps(question_in_short(Asked(approval, state)))
    assert said in home
    assert ", after the output of git.git_log" in asked_in_short(approval, state)
    assert approval_shape(approval, state)["tainted_by"] == [
        {"source": "tool", "name": "git.git_log", "by": None}
    ]
    plain = state_with()
    (approval,) = plain.approvals.values()
    assert "tainted_by" not in approval_shape(approval, plain)
    assert ", after" not in asked_in_short(approval, plain)
