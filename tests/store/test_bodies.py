"""A body is read in one go where it can be, and as its JSON values say in any case."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.event_text import read_own
from agent.rules.events import CallReturned, Event
from agent.rules.ids import CallId, EventId, RunId
from agent.rules.json_text import dump_text, load_text
from agent.rules.recorded import Recorded, Stamped, load_event
from store.bodies import Row, read_body, write_body
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally
from tests.examples import examples
from tests.store.story import replied, returned

RUN = RunId("run_1")
AT = datetime(2026, 11, 30, 22, 1, 2, 3, UTC)
#: Of all kinds.
EVENTS = [one.event for path in sorted(JOURNALS.glob("*.jsonl")) for one in read_golden(path.stem)]
#: Stands for what is put into a text.
HERE = "@here@"
#: What a body's values are changed to, one at a time.
VALUES = (
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "-1e999",
    "1" + "0" * 400,
    "NaN",
    "Infinity",
    '""',
    '"x"',
    r'"\ud800"',
    r'"\u0041"',
    "[" * 250 + "]" * 250,
    "[1e400]",
    '{"a":NaN}',
    '{"a":1.25}',
    "{}",
    "[]",
    "01",
    "",
    "9" * 5_000,
)


@legally
@given(legal_histories())
def test_every_event_is_read_as_its_values_say(history: History) -> None:
    for one in history.recorded:
        row = _row(one.event)
        assert _read(row) == _by_values(row)
        assert _read(row) == (one.event, {"version"} & one.event.model_fields_set)


@settings(max_examples=examples(500), deadline=None)
@given(st.sampled_from(EVENTS), st.data())
def test_one_that_was_changed_is_refused_as_its_values_are(
    event: Event, data: st.DataObject
) -> None:
    row = _row(event)
    assert isinstance(row.body, str)
    fields = load_text(row.body)
    holder, name = data.draw(st.sampled_from(list(_places(fields))))
    value = data.draw(st.sampled_from(VALUES))
    holder[name] = HERE
    changed = row._replace(body=dump_text(fields).replace(f'"{HERE}"', value))
    assert _read(changed) == _by_values(changed)
    if holder is fields and name not in ("id", "at"):
        # Which of two names counts is nobody's question for those ahead: they are compared with the row.
        twice = row._replace(body=f'{row.body[:-1]},"{name}":{value}}}')
        assert _read(twice) == _by_values(twice)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", '{"a":NaN}', "[Infinity]"])
def test_what_is_no_number_is_none_in_a_field_that_is_left_out_too(value: str) -> None:
    row = _row(replied(text="Hello."))
    assert isinstance(row.body, str)
    changed = row._replace(body=row.body.replace('"usage":{', f'"usage":{{"unknown":{value},'))
    assert changed != row
    assert _read(changed) == _by_values(changed)
    with pytest.raises(CorruptJournal):
        read_body(RUN, changed)


@pytest.mark.parametrize("version", ["0", "2", "7", "9", "-1", "1.0", '"1"', "true", "null", "10"])
def test_another_version_is_judged_as_its_values_are(version: str) -> None:
    row = _row(replied(text="Hello."))
    assert isinstance(row.body, str)
    for put in ('"version":1', '"calls":[]'):
        other = row._replace(body=row.body.replace(put, f'"version":{version}'))
        assert _read(other) == _by_values(other)


@pytest.mark.parametrize("output", ["words", None])
def test_what_is_plain_is_read_in_one_go(output: str | None) -> None:
    event = CallReturned(call_id=CallId("call_1"), output=output)
    own = _own_of(event)
    assert read_own("call_returned", 1, own) == event


@pytest.mark.parametrize(
    "output", ["1.5", "1e400", "[1]", '{"a":1}', '"a","output":1e400', '"a","\\u006futput":1e400']
)
def test_what_may_be_read_otherwise_is_not(output: str) -> None:
    own = _own_of(returned("call_1", "words")).replace('"output":"words"', f'"output":{output}')
    assert f'"output":{output}' in own
    assert read_own("call_returned", 1, own) is None


def _row(event: Event) -> Row:
    fact = write_body(Stamped(EventId("0193-e"), AT, event))
    return Row(2, fact.id, fact.at, "h", fact.body)


def _own_of(event: Event) -> str:
    body = _row(event).body
    assert isinstance(body, str)
    return "{" + body.split(",", 4)[4]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in this at which there is a value: what holds it, and its name or number there."""
    names = list(value) if isinstance(value, dict) else range(len(value))
    for name in names:
        yield value, name
        if isinstance(value[name], dict | list):
            yield from _places(value[name])


def _read(row: Row) -> object:
    try:
        recorded = read_body(RUN, row)
    except (CorruptJournal, UnknownEvent) as error:
        return type(error), str(error)
    assert recorded == Recorded(
        RUN, row.seq, EventId(row.event_id), row.at, row.hash, recorded.event
    )
    return recorded.event, {"version"} & recorded.event.model_fields_set


def _by_values(row: Row) -> object:
    """The same, by way of its JSON values."""
    assert isinstance(row.body, str)
    try:
        fields = load_text(row.body)
        if (fields["id"], fields["at"]) != (row.event_id, "2026-11-30T22:01:02.000003Z"):
            raise ValueError("its id or its time differs from its row")
        event = load_event(fields)
    except UnknownEvent as error:
        with_seq = UnknownEvent(error.kind, error.version, row.seq)
        return type(with_seq), str(with_seq)
    except (ValueError, TypeError, KeyError) as error:
        why = type(error).__name__ if type(error) is not ValueError else str(error)
        corrupt = CorruptJournal(RUN, row.seq, why)
        return type(corrupt), str(corrupt)
    return event, {"version"} & event.model_fields_set
