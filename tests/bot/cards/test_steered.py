"""A steered call whose tool says beforehand what will happen: what its cards say."""

from __future__ import annotations

from agent.rules.decisions import Steer
from bot.slack.thread.desired import desired
from tests.agent.rules.deciding import take
from tests.agent.rules.histories import History, asked, previewed, waiting
from tests.agent.rules.judges import RefundJudge
from tests.bot.cards.checking import shown


def card(history: History, approval: int = 1) -> str:
    key = f"approval:apr_{approval}"
    return shown(next(one.message for one in desired(history.state) if one.key == key).blocks)


def test_a_steer_of_what_is_foreseen_only_then_is_asked_again_and_both_cards_say_why() -> None:
    judge = RefundJudge(can_preview=True)
    changed = waiting()
    changed = changed.then(*take(changed, Steer({"amount": 150}), judge=judge))
    why = "what will happen is only known now"
    assert f"It is to be asked again, because: {why}" in card(changed)
    changed = changed.then(previewed(1, "$150.00 goes back"))
    question = asked(1, approval=2, args={"order": "ORD-3300", "amount": 150}, supersedes=1)
    more = {"preview": "$150.00 goes back", "again_because": why}
    changed = changed.then(question.model_copy(update=more))
    assert f"Asked again below, because: {why}" in card(changed)
    asks = card(changed, 2)
    assert f"Asked again because: {why}" in asks
    assert "What will happen\n$150.00 goes back" in asks
