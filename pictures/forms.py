"""Pictures of the modals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from agent.rules.calls import Call
from agent.rules.parts import Granting
from agent.rules.state import Approval, RunState
from bot.slack.cards.all_of import all_modal
from bot.slack.cards.ask_about import About, ask_modal
from bot.slack.cards.forms import approve_modal, deny_modal, grant_modal
from bot.slack.cards.modals import View, answer_modal, steer_modal
from bot.slack.cards.switches import switch_modal
from bot.slack.cards.view_all import view_all_modal
from pictures.acts import DAY, LETTER, PARCEL, PLACE, refund, waiting
from pictures.cards import card
from pictures.picture import Picture
from tests.agent.rules.histories import History
from tests.bot.cards.stories import questioned

#: A rule that allows standing consent.
GRANTING: Final = Granting(scopes=("run", "thread"), longest=3 * DAY)

_APPROVE: Final = "document.querySelector('#replies .button.primary').click()"


def modals() -> Iterator[Picture]:
    parcel = waiting(PARCEL)
    yield _over(parcel, "steer", steer_modal(*_asked(parcel)))
    money = waiting(refund(granting=GRANTING))
    approval, call, _ = _asked(money)
    yield _over(money, "deny", deny_modal(approval, call))
    yield _over(money, "approve", approve_modal(approval, call))
    yield _over(money, "grant", grant_modal(approval, call, "run"))
    several = waiting(refund("ORD-1", 150), refund("ORD-2", 220))
    listed = several.state.open_approvals
    yield _over(several, "approve-all", all_modal("Approve", listed, several.state))
    letter = waiting(LETTER)
    whole = _over(letter, "view-all", view_all_modal(*_asked(letter)))
    yield replace(whole, height=760)
    asks = questioned(text="What shall I write to the customer?")
    answer = _over(asks, "answer", answer_modal(*_asked(asks)))
    yield replace(answer, seen_by="U0ALICE")
    yield replace(_over(money, "ask", _ask()), seen_by="U0ALICE")
    switch = switch_modal(["refunds"], ["process_refund", "send_voucher"])
    yield _over(money, "kill-switch", switch)
    sure = waiting(refund(confirm=True))
    yield Picture("confirm", sure.now, card(sure), then=_APPROVE)


def _ask() -> View:
    about = About(PLACE.channel, str(PLACE.thread_ts), str(PLACE.thread_ts))
    said = "Ms Weber was charged twice for ORD-3300 and wants one of them back."
    return ask_modal(about, said, is_at_work=False)


def _asked(history: History) -> tuple[Approval, Call, RunState]:
    state = history.state
    approval = state.open_approvals[0]
    return approval, state.call(approval.requested.of_call), state


def _over(history: History, name: str, view: View) -> Picture:
    """Above the card of ``apr_1``."""
    return Picture(f"modal-{name}", history.now, card(history), modal=view)
