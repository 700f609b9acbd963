"""What a sandbox that runs for long must forget."""

from __future__ import annotations

import pytest

from bot.sandbox.interactions.triggers import KEPT
from bot.sandbox.messages import EPHEMERALS_KEPT
from bot.sandbox.newest import Newest
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import SlackError
from tests.sandbox.driving import button


def test_the_newest_stay_and_what_is_set_again_is_new() -> None:
    newest: Newest[str, int] = Newest(2)
    for number, name in enumerate("abac"):
        newest[name] = number
    assert list(newest.items()) == [("a", 2), ("c", 3)]


def test_old_triggers_and_ephemerals_are_forgotten_with_their_buttons() -> None:
    sandbox = Sandbox()
    first = sandbox.triggers.issue("U0BOB")
    for _ in range(KEPT):
        sandbox.triggers.issue("U0BOB")
    shown = []
    for _ in range(EPHEMERALS_KEPT + 1):
        shown.append(sandbox.messages.add_ephemeral("U0BOB", "C0OPS", {})["ts"])
        sandbox.messages.remember_controls("C0OPS", shown[-1], {"go": button("go")})
    said = sandbox.messages.add("C0OPS", {})
    sandbox.messages.remember_controls("C0OPS", said["ts"], {"go": button("go")})
    sandbox.messages.remove("C0OPS", said["ts"])
    with pytest.raises(SlackError, match="invalid_trigger_id"):
        sandbox.triggers.use(first)
    assert len(sandbox.messages.ephemerals) == EPHEMERALS_KEPT
    for gone in (shown[0], said["ts"]):
        assert sandbox.messages.controls("C0OPS", gone) == {}
    assert sandbox.messages.controls("C0OPS", shown[1]) != {}


def test_the_record_is_bounded_by_what_it_holds_also_of_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.sandbox.record.BYTES_KEPT", 10_000)
    record = Sandbox().record
    first = record.note("call", arguments="x" * 4000)
    second = record.note("call", arguments="x" * 4000)
    assert record.calls() == [first, second]
    second["answer"] = "x" * 4000
    record.settle(second)
    assert record.calls() == [second]
    huge = record.note("call", arguments="x" * 20_000)
    record.settle(second)
    assert record.calls() == [huge]
