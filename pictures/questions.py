"""Pictures of what else people are asked, and of who is called to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from agent.rules.parts import Escalation, Patience
from pictures.acts import DAY, MINUTE, refund, waiting
from pictures.cards import card, shown
from pictures.picture import Picture
from tests.agent.rules.happenings import HOUR, escalated, reminded
from tests.agent.rules.histories import (
    answered,
    approved,
    call_started,
    left_unknown,
    settled,
)
from tests.bot.cards.stories import questioned
from tests.bot.cards.waits import used_up

_REGIONS = ("Europe", "North America", "South America", "Asia", "Africa", "Oceania")


def questions() -> Iterator[Picture]:
    few = questioned("$90.00", "$180.00", "Nothing")
    many = questioned(*_REGIONS, text="For which region is the new price?", free_text=False)
    open_one = questioned(text="What shall I write to the customer?")
    answer = few.then(answered(1, "$90.00"), after=7 * MINUTE)
    told = (*card(few), *card(many), *card(open_one), *card(answer))
    yield Picture("questions", answer.now, told, seen_by="U0ALICE")


def reviews() -> Iterator[Picture]:
    act = refund(effect="once", preview=None)
    begun = waiting(act).then(approved(1), after=7 * MINUTE)
    begun = begun.then(call_started(1, begun.now), after=timedelta(0))
    lost = left_unknown(1).model_copy(update={"detail": "The bank's answer was lost on its way."})
    unknown = begun.then(lost, after=2 * MINUTE)
    question = act.asked(unknown, approval_id="apr_2", approval_kind="review", supersedes="apr_1")
    unknown = unknown.then(question.model_copy(update={"preview": None, "expires_at": None}))
    known = unknown.then(settled(2, "happened"), after=5 * MINUTE)
    review = "approval:apr_2"
    yield Picture("review", known.now, (*shown(unknown, review), *shown(known, review)))


def budgets() -> Iterator[Picture]:
    wanted = used_up()
    more = wanted.then(approved(1), after=7 * MINUTE)
    yield Picture("budget", more.now, (*card(wanted), *card(more)))


def calls_out() -> Iterator[Picture]:
    legal = Escalation(after=2 * HOUR, groups=("S0LEGAL",))
    patience = Patience(expires=DAY, remind=HOUR, escalate=(legal,))
    once = waiting(refund(patience=patience)).then(reminded(1), after=HOUR)
    later = once.then(escalated(1), after=HOUR)
    told = (*shown(once, "reminder:apr_1:1"), *shown(later, "escalation:apr_1:1"))
    yield Picture("reminder", later.now, told)
