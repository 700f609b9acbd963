"""What can't be done now is told of once, whatever is said of it in between."""

from __future__ import annotations

import logging

import pytest

from agent.errors import StoreUnavailable
from agent.troubles import Trouble

LOG = logging.getLogger("agent.troubles")


@pytest.fixture
def trouble() -> Trouble:
    return Trouble(LOG, "not now: %s")


def meet(trouble: Trouble, *reasons: str) -> None:
    for reason in reasons:
        trouble.met(StoreUnavailable(reason))


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_reasons_that_come_by_turns_are_told_once_each(
    trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    meet(trouble, *["refused", "broken off"] * 20)
    assert told(caplog) == ["not now: refused", "not now: broken off"]


def test_once_it_has_been_done_it_is_told_again(
    trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    meet(trouble, "refused")
    assert trouble.end()
    assert not trouble.end()
    meet(trouble, "refused")
    assert told(caplog) == ["not now: refused"] * 2


def test_reasons_that_differ_each_time_do_not_fill_the_log(
    trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    meet(trouble, *(f"process {n} refuses" for n in range(1000)))
    assert 1 <= len(told(caplog)) < 10
