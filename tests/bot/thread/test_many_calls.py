"""A reply with very many calls: others wait in the same process while its thread is drawn."""

from __future__ import annotations

from collections import Counter

import pytest

from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards import together
from bot.slack.cards.blocks import Room
from bot.slack.thread.cards_of import decided_on, is_card_of
from tests.bot.cards.test_group import several
from tests.bot.thread.scene import Scene, eventually
from tests.bot.thread.test_group import STEP


async def test_each_question_is_laid_out_once_however_often_its_card_is_asked_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 30
    laid_out: Counter[tuple[ApprovalId, int]] = Counter()
    real = together._size

    def counted(approval: Approval, state: RunState) -> Room:
        laid_out[approval.id, state.seq] += 1
        return real(approval, state)

    run_id = await scene.begin(several(count))
    monkeypatch.setattr(together, "_size", counted)
    await scene.draw()
    await eventually(lambda: scene.is_drawn_by_now(run_id, step=STEP))
    cards = [key for key in scene.messages(run_id) if key.startswith("approval:")]
    assert len(cards) > 1
    assert len(laid_out) == count
    # A pass folds the journal anew, and what another one had is not there any more.
    assert max(laid_out.values()) <= 4


def test_what_is_decided_on_a_card_is_what_says_that_it_is_its_card() -> None:
    state = several(9).state
    keys = [f"approval:{one}{at}" for one in state.approvals for at in ("", ":C0OPS", ":U0BOB")]
    for key in (*keys, "status", "approval:apr_99", "reminder:apr_1:1", "file:apr_1"):
        asked = tuple(one for one in state.approvals if is_card_of(one, state)(key))
        assert decided_on(key, state) == asked
