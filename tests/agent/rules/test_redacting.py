"""What is left of events once their payloads, or all words, have been removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given

from agent.rules.events import Event
from agent.rules.fold import fold
from agent.rules.ids import Principal, RunId
from agent.rules.interventions import HaltsChanged, SessionContinued
from agent.rules.parts import Halt, Taint
from agent.rules.recorded import Recorded, dump_event, load_event
from agent.rules.redacting import REMOVED, without_payloads, without_words
from agent.rules.state import RunState
from agent.rules.transcript import transcript
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally

Left = Callable[[Event], Event]

GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))
LEFT: tuple[Left, ...] = (without_payloads, without_words)

#: Texts that say who did what, when, by which rule and to what end: all that is left at last.
SKELETON = frozenset(
    [
        "kind",
        "more",
        "version",
        "at",
        "as_of",
        "retry_at",
        "began_at",
        "deadline",
        "expires_at",
        "agent",
        "session",
        "requester",
        "channel",
        "place",
        "ref",
        "by",
        "claimed_by",
        "user",
        "groups",
        "forked_by",
        "of_run",
        "call_id",
        "operation_id",
        "model_call_id",
        "approval_id",
        "supersedes",
        "group",
        "grant",
        "model",
        "tool",
        "title",
        "effect",
        "outcome",
        "schema_digest",
        "hash",
        "binding_hash",
        "policy_version",
        "rule",
        "action",
        "code",
        "approval_kind",
        "authority",
        "status",
        "external_id",
        "budget",
        "used",
        "limit",
        "card",
        "notify",
        "on_expiry",
        "expires",
        "remind",
        "after",
        "valid_for",
        "longest",
        "scopes",
        "then",
        "cost_usd",
        "limit_key",
        "key",
        "what",
        "currency",
        "per",
        "zone",
        "until",
        "ends",
        "switch",
        "window",
        "call_ids",
        "source",
        "amount",
        "max",
        "name",
        "users",
        "one_from_each",
        "not_counted",
        "again_because",
        "lib",
        "arguments",
        "parameters",
    ]
)


#: Words of the core's own, but for what people or models said.
OF_THE_CORE = {("session_continued", "note"), ("approval_requested", "reason")}


def left_of(events: list[Recorded], left: Left) -> list[Recorded]:
    return [replace(one, event=left(one.event)) for one in events]


def outline(state: RunState) -> object:
    """What an auditor asks of a run."""
    calls = [
        (call.id, call.tool, call.status, call.attempts, call.receipt, call.effect)
        for call in state.calls.values()
    ]
    approvals = [
        (
            one.id,
            one.status,
            one.requested.rule,
            one.requested.approvers,
            one.decided and (one.decided.by, one.decided.action, one.decided_at),
        )
        for one in state.approvals.values()
    ]
    ends = (
        state.ending,
        state.ended_at,
        state.seq,
        state.requester,
        state.model_calls,
        state.cost_usd,
    )
    return calls, approvals, ends


def texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner, one in value.items():
            if inner == "parameters":
                continue  # The tool's own schema.
            yield from texts(one, inner)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, key)
    elif isinstance(value, str) and value:
        yield key, value


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("left", LEFT)
def test_what_is_left_folds_to_the_same_run(name: str, left: Left) -> None:
    events = read_golden(name)
    assert outline(fold(left_of(events, left))) == outline(fold(events))


@legally
@given(legal_histories())
def test_what_is_left_of_any_history_folds_to_the_same_run(history: History) -> None:
    for left in LEFT:
        kept = left_of(list(history.recorded), left)
        assert outline(fold(kept)) == outline(history.state)
        transcript(fold(kept))
        again = [replace(one, event=load_event(dump_event(one.event))) for one in kept]
        assert again == kept
        assert left_of(kept, left) == kept, "what is gone is gone"
        assert left_of(kept, without_words) == left_of(list(history.recorded), without_words)


@pytest.mark.parametrize("name", GOLDEN)
def test_no_word_is_left_but_the_skeleton(name: str) -> None:
    """A new field with words in it has to be thought of: in ``redacting``, or here."""
    for one in read_golden(name):
        for key, text in texts(dump_event(without_words(one.event))):
            if key == "arguments":
                assert text == "{}"
            elif (one.event.kind, key) in OF_THE_CORE and text != REMOVED:
                assert text.lstrip("[").startswith("This run "), (key, text)
            elif key not in SKELETON:
                assert text == REMOVED, (one.event.kind, key, text)


@pytest.mark.parametrize("name", GOLDEN)
def test_of_payloads_the_words_of_people_stay(name: str) -> None:
    events = read_golden(name)
    before, after = fold(events), fold(left_of(events, without_payloads))
    assert (after.prompt, after.answer) == (before.prompt, before.answer)
    assert [one.text for one in after.replies] == [one.text for one in before.replies]
    assert not any(call.args for call in after.calls.values() if not call.is_question)


def test_a_file_that_taints_has_no_name_left_and_a_tool_has() -> None:
    taints = (
        Taint(source="file", name="salaries.csv", by=Principal("slack:T1:U1")),
        Taint(source="tool", name="read_page"),
    )
    names = {"payloads": ["salaries.csv", "read_page"], "words": [REMOVED, "read_page"]}
    for left, there in zip(LEFT, names.values(), strict=True):
        kept = left(SessionContinued(of_run=RunId("run_0"), turns=(), taints=taints))
        assert isinstance(kept, SessionContinued)
        assert [one.name for one in kept.taints or ()] == there


def test_why_something_was_switched_off_goes_with_the_words() -> None:
    why = Halt(switch="all", by=Principal("slack:T1:U1"), reason="the press is calling")
    kept = without_words(HaltsChanged(halts=(why,)))
    assert isinstance(kept, HaltsChanged)
    assert [(one.switch, one.reason) for one in kept.halts] == [("all", REMOVED)]
