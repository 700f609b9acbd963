"""Pictures of calls that wait for a yes, and of what became of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from pydantic import JsonValue

from agent.rules.events import RunFinished
from agent.rules.interventions import RunCancelled, StopRequested
from agent.rules.limits_in_words import over_in_words
from agent.rules.parts import Granting, LimitUse, Receipt, Taint
from pictures.acts import (
    CHANGE,
    DAY,
    LETTER,
    MINUTE,
    TRANSFER,
    Act,
    asking,
    begun,
    looked_up,
    refund,
    waiting,
)
from pictures.cards import card, edited_card, shown
from pictures.picture import DESK, Picture, Told
from tests.agent.rules.happenings import expired
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    History,
    approved,
    call_started,
    denied,
    guided,
    judged,
    replied,
    returned,
    steered,
    voted,
)

_OPEN_MENU: Final = "document.querySelector('#replies .overflow').click()"


def pending() -> Iterator[Picture]:
    money = asking(looked_up(), refund())
    yield Picture("approval", money.now, _among_people(money), width=1240, height=920, scale=2)
    yield Picture("approval-phone", money.now, card(money))
    limited = asking(looked_up(), _beyond_the_limit(money.now))
    yield Picture("approval-limit", limited.now, card(limited))
    code = waiting(CHANGE, prompt="let paid orders be refunded up to $250")
    yield Picture("approval-code", code.now, card(code), width=DESK)
    quorum = code.then(
        voted(1, BOB, user="U0BOB", groups=("S0FINANCE",), note="Tests are green."),
        after=7 * MINUTE,
    )
    yield Picture("approval-quorum", quorum.now, edited_card(quorum))
    letter = waiting(LETTER, prompt="send our new terms to all customers")
    yield Picture("approval-long", letter.now, card(letter))
    transfer = waiting(TRANSFER, prompt="pay the invoice 7731")
    yield Picture("approval-warnings", transfer.now, card(transfer))
    dry = asking(begun("refund ORD-3300 180", dry_run=True), refund())
    yield Picture("approval-dry-run", dry.now, (*shown(dry, "status"), *card(dry)))
    menu = waiting(refund(granting=Granting(scopes=("run", "thread"), longest=3 * DAY)))
    yield Picture("approval-menu", menu.now, card(menu), then=_OPEN_MENU)


def _beyond_the_limit(now: datetime) -> Act:
    """Of a day's limit little is left; and the agent has read what somebody else sent."""
    use = LimitUse(
        key="",
        used=Decimal(420),
        amount=Decimal(180),
        max=Decimal(500),
        what="args.amount",
        currency="USD",
        per=("user", "day"),
        zone="Europe/Berlin",
        until=(now + DAY).replace(hour=23, minute=0, second=0, microsecond=0),
    )
    read = Taint(source="file", name="complaint.txt", by=BOB)
    return replace(refund(), reason=over_in_words(use), limit=use, tainted_by=(read,))


def _among_people(waits: History) -> tuple[Told, ...]:
    """In a thread that Alice has opened, of a channel in which others talk."""
    return (
        Told(
            "ORD-3297 came with a scratch. They keep it for $60 back.",
            (),
            by="U0FRANK",
            is_aside=True,
        ),
        *(replace(one, is_aside=True) for one in shown(_was_small(), "status")),
        Told(
            "And the parcel of ORD-3300 is back: nobody was at home.",
            (),
            by="U0CAROL",
            is_aside=True,
        ),
        Told("<@U0PILOT> refund ORD-3300 180", (), by="U0ALICE"),
        *shown(waits),
    )


def _was_small() -> History:
    """Nobody had to be asked."""
    history = begun("refund ORD-3297 60").then(replied(1)).then(judged(1))
    return done(history).then(RunFinished(answer="ORD-3297 was refunded: $60.00 (re_1041)."))


def done(history: History, number: int = 1, *, receipt: str = "re_1042") -> History:
    """It is carried out, within half a second."""
    history = history.then(call_started(number, history.now), after=timedelta(0))
    ended = returned(number, {"refund": receipt})
    committed = Receipt(status="committed", external_id=receipt)
    half = timedelta(milliseconds=500)
    return history.then(ended.model_copy(update={"receipt": committed}), after=half)


def decided() -> Iterator[Picture]:
    asked = waiting(refund())
    yes = done(asked.then(approved(1, note="Checked with the shop."), after=7 * MINUTE))
    no = asked.then(denied(1, "This order was refunded in May."), after=7 * MINUTE)
    yield Picture("decided", no.now, (*card(yes), *card(no)), width=DESK)
    less: dict[str, JsonValue] = {"order": "ORD-3300", "amount": 90}
    changed = done(asked.then(steered(1, less), after=7 * MINUTE))
    other = asked.then(guided(1, "Offer a voucher first."), after=7 * MINUTE)
    yield Picture("decided-steered", changed.now, (*card(changed), *card(other)))
    late = asked.then(expired(1), after=DAY)
    newer = asked.then(refund(amount=90).asked_instead(asked), after=7 * MINUTE)
    stopped = asked.then(StopRequested(by=ALICE), RunCancelled(), after=7 * MINUTE)
    silent = (*card(late), *card(newer), *card(stopped))
    yield Picture("undecided", late.now, silent, width=DESK)


def several() -> Iterator[Picture]:
    asked = waiting(
        refund("ORD-1", 150), refund("ORD-2", 220), refund("ORD-3", 310), prompt="refund them all"
    )
    some = done(asked.then(approved(2), after=7 * MINUTE), 2)
    yield Picture("several", some.now, edited_card(some))
