"""Pictures of the Home tab."""

from __future__ import annotations

from collections.abc import Iterator

from agent.rules.control import SwitchTurned
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.standing import Switch
from bot.slack.cards.home import Home, Own, home_view
from bot.slack.cards.home_asked import Asked
from pictures.acts import LETTER, MINUTE, begun, refund, waiting
from pictures.picture import Picture
from tests.agent.rules.histories import History, approved
from tests.bot.cards.stories import questioned

_URL = "http://127.0.0.1:3333/archives/C0SUPPORT/p1796000000000100"


def homes() -> Iterator[Picture]:
    asked, letter = waiting(refund()), waiting(LETTER, prompt="send our new terms to all customers")
    may_too = Approvers(users=("U0BOB",), requester=True)
    question = questioned("$90.00", "$180.00", approvers=may_too)
    yes = waiting(refund("ORD-2100", 240)).then(approved(1), after=7 * MINUTE)
    shown = Home(
        waiting=[_newest(one) for one in (asked, letter, question)],
        more_waiting=2,
        runs=[Own(begun("look for invoices that nobody has paid").state, _URL)],
        decided=[_newest(yes)],
    )
    yield Picture("home", yes.now, home=home_view(shown))
    turned = SwitchTurned(
        switch="tool:send_voucher",
        is_on=True,
        by=Principal("slack:T0PILOT:U0FRANK"),
        reason="they are doubled",
    )
    off = Home(switches=[Switch(turned, 1, yes.now - 9 * MINUTE)])
    yield Picture("home-owner", yes.now, home=home_view(off))


def _newest(history: History) -> Asked:
    return Asked(list(history.state.approvals.values())[-1], history.state, _URL)
