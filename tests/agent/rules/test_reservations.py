"""What a call reserves of limits: read from its run, and kept event by event, it is the same."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest
from pydantic import ValidationError

from agent.rules.effects import reserved, word_of
from agent.rules.events import CallRefused, CallReturned, CallStarted, Event
from agent.rules.ids import CallId
from agent.rules.parts import Receipt, SettleOutcome
from agent.rules.reservations import Reservation, Status, by_limit, status_after
from tests.agent.rules.histories import (
    BEGAN,
    History,
    asked,
    begun,
    call_started,
    denied,
    judged,
    left_unknown,
    looked_up,
    replied,
    settled,
    steered,
)


def of_limit(amount: str, max: str = "500", limit: str = "a day") -> Reservation:
    return Reservation(limit=limit, amount=Decimal(amount), max=Decimal(max))


def reserving(*reserves: Reservation, attempt: int = 1) -> Event:
    return call_started(1, BEGAN, attempt).model_copy(update={"reserves": reserves})


def ended(receipt: Receipt | None) -> CallReturned:
    return CallReturned(call_id=CallId("call_1"), output="x", receipt=receipt)


def after_start(*reserves: Reservation) -> History:
    history = begun().then(replied(1)).then(judged(1, effect="once"))
    return history.then(reserving(*(reserves or (of_limit("180"),))))


NEWS: dict[str, Event] = {
    "started": reserving(of_limit("180"), attempt=2),
    "looked up": looked_up(1),
    "unknown": left_unknown(1),
    "committed": ended(Receipt(status="committed")),
    "rejected": ended(Receipt(status="rejected")),
    "returned, unknown": ended(Receipt(status="unknown")),
    "returned": ended(None),
    "refused": CallRefused(call_id=CallId("call_1"), code="policy", message="no"),
}


@pytest.mark.parametrize("first", NEWS)
def test_kept_event_by_event_it_is_what_the_run_says(first: str) -> None:
    for names in product([first], NEWS, NEWS, NEWS):
        history, status = after_start(), _status("held")
        for name in names:
            history = history.then(NEWS[name])
            word = word_of(NEWS[name])
            status = "held" if word is None else status_after(status, word)
            (one,) = reserved(history.state)
            assert (one.status, one.amount) == (status, Decimal(180)), names


def _status(status: Status) -> Status:
    return status


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("happened", "committed"), ("not_happened", "freed"), ("check", "held"), ("give_up", "held")],
)
def test_a_person_who_settles_an_unknown_effect_settles_what_it_reserved(
    outcome: SettleOutcome, status: Status
) -> None:
    event = settled(1, outcome)
    history = after_start().then(left_unknown(1)).then(asked(1, kind="review")).then(event)
    assert [one.status for one in reserved(history.state)] == [status]
    word = word_of(event)
    assert ("held" if word is None else status_after("held", word)) == status


@pytest.mark.parametrize(
    ("event", "status"),
    [(denied(1), "rejected"), (steered(1, {"order": "ORD-1", "amount": 1}), "freed")],
)
def test_what_was_looked_up_and_is_then_decided_otherwise_does_not_count(
    event: Event, status: Status
) -> None:
    history = after_start().then(looked_up(1)).then(judged(1, "ask")).then(asked(1)).then(event)
    assert [one.status for one in reserved(history.state)] == [status]
    word = word_of(event)
    assert ("freed" if word is None else status_after("freed", word)) == status


def test_an_attempt_more_reserves_nothing_twice_and_gives_nothing_back() -> None:
    state = after_start(of_limit("180"), of_limit("1", limit="calls")).then(
        reserving(of_limit("90"), of_limit("2", limit="another day"), attempt=2)
    )
    amounts = {one.limit: one.amount for one in reserved(state.state)}
    assert amounts == {"a day": Decimal(180), "calls": Decimal(1), "another day": Decimal(2)}


def test_what_was_given_back_is_reserved_anew_as_it_is_asked_for() -> None:
    again = after_start().then(looked_up(1)).then(reserving(of_limit("90"), attempt=2))
    assert [(one.amount, one.status) for one in reserved(again.state)] == [(Decimal(90), "held")]


def test_what_a_start_asks_for_twice_is_added_under_the_stricter_maximum() -> None:
    (one,) = by_limit([of_limit("0.1", "5"), of_limit("0.2", "3")]).values()
    assert (one.amount, one.max) == (Decimal("0.3"), Decimal(3))


def test_a_call_that_reserves_nothing_has_nothing() -> None:
    assert (
        reserved(begun().then(replied(1)).then(judged(1)).then(call_started(1, BEGAN)).state) == ()
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"amount": "NaN"},
        {"amount": "Infinity"},
        {"amount": "-1"},
        {"max": "-1"},
        {"amount": "1e400"},
        {"amount": "0.0000000000000000001"},
        {"limit": ""},
        {"limit": "a\0b"},
        {"limit": "\ud800"},
        {"limit": "x" * 501},
    ],
)
def test_what_no_database_could_keep_exactly_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Reservation.model_validate({"limit": "a day", "amount": "1", "max": "2", **wrong})


def test_amounts_stand_in_the_journal_as_text() -> None:
    event = reserving(of_limit("0.10"))
    assert isinstance(event, CallStarted)
    (written,) = event.model_dump(mode="json")["reserves"]
    assert written == {"limit": "a day", "amount": "0.10", "max": "500"}
