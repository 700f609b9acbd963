"""Who writes a file next: whoever has waited long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from store.next_writer import COURTESY, LONG, NAME, PASSED_OVER, NextWriter
from store.sqlite import SqliteTransactions

PATIENCE = timedelta(seconds=30)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by.total_seconds()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_whoever_has_waited_long_is_next_and_others_let_it_go_ahead(
    tmp_path: Path, clock: Clock
) -> None:
    one, other = NextWriter(tmp_path, clock=clock), NextWriter(tmp_path, clock=clock)
    with one.waiting():
        assert one.may_ask()
        assert not one.has_turn()
        with other.waiting():
            assert other.may_ask(), "nobody is next yet"
        clock.advance(LONG)
        assert one.may_ask()
        assert one.has_turn()
        with other.waiting():
            assert not other.may_ask()
            clock.advance(LONG)
            assert not other.may_ask(), "one is next, however long others wait"
    with other.waiting():
        assert other.may_ask(), "it has had its turn"


def test_one_that_is_stopped_keeps_nobody_from_writing(tmp_path: Path, clock: Clock) -> None:
    stopped, other = NextWriter(tmp_path, clock=clock), NextWriter(tmp_path, clock=clock)
    with stopped.waiting():
        clock.advance(LONG)
        assert stopped.may_ask()
        assert stopped.has_turn()
        with other.waiting():
            asked = []
            for _ in range(4):
                asked.append(other.may_ask())
                clock.advance(2 * COURTESY)
    assert asked == [False, True, True, True]


def test_one_that_is_stopped_is_waited_for_once_and_again_when_it_may_have_gone_on(
    tmp_path: Path, clock: Clock
) -> None:
    stopped, other = NextWriter(tmp_path, clock=clock), NextWriter(tmp_path, clock=clock)

    def asks() -> bool:
        with other.waiting():
            return other.may_ask()

    with stopped.waiting():
        clock.advance(LONG)
        assert stopped.may_ask()
        with other.waiting():
            assert not other.may_ask()
            clock.advance(COURTESY)
            assert other.may_ask(), "and it writes: its turn was not used"
        assert asks()
        assert asks()
        clock.advance(PASSED_OVER)
        assert not asks(), "it may have gone on"
        with other.waiting():
            assert not other.may_ask()
            clock.advance(2 * COURTESY)
            assert other.may_ask()
        assert asks()
    assert asks(), "it has had its turn"
    with stopped.waiting():
        clock.advance(2 * LONG)
        assert stopped.may_ask()
        assert not asks(), "and is next once more"


def test_one_that_could_not_use_its_turn_is_waited_for_again(tmp_path: Path, clock: Clock) -> None:
    """A third has the write lock all the while."""
    one, other = NextWriter(tmp_path, clock=clock), NextWriter(tmp_path, clock=clock)
    with one.waiting():
        clock.advance(LONG)
        assert one.may_ask()
        with other.waiting():
            assert not other.may_ask()
            clock.advance(COURTESY)
            assert other.may_ask(), "it asks, in vain"
            assert not other.may_ask()
        with other.waiting():
            assert not other.may_ask()


def test_one_that_died_has_no_turn(tmp_path: Path, clock: Clock) -> None:
    died, other = NextWriter(tmp_path, clock=clock), NextWriter(tmp_path, clock=clock)
    with died.waiting():
        clock.advance(LONG)
        assert died.may_ask()
        assert died.has_turn()
        # What the kernel does.
        died.close()
        with other.waiting():
            assert other.may_ask()


@pytest.mark.parametrize("spoil", [Path.mkdir, lambda path: path.symlink_to(path / "elsewhere")])
def test_where_no_such_file_can_be_all_ask_as_they_like(
    tmp_path: Path, clock: Clock, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path / NAME)
    one = NextWriter(tmp_path, clock=clock)
    with one.waiting():
        assert one.may_ask()
        clock.advance(LONG)
        assert one.may_ask()
        assert not one.has_turn()


def test_whoever_comes_later_writes_later(tmp_path: Path) -> None:
    """Its looks have become rare, and those of one that has just come are many."""
    path = tmp_path / "pilothouse.db"
    never = timedelta(minutes=1)
    holding, waiting, coming = (
        SqliteTransactions(path, PATIENCE, next_writer=NextWriter(tmp_path, courtesy=never))
        for _ in range(3)
    )
    order: list[str] = []
    has_begun, may_end = threading.Event(), threading.Event()

    def hold(_: Connection) -> None:
        has_begun.set()
        may_end.wait(PATIENCE.total_seconds())

    def write(name: str) -> Callable[[Connection], None]:
        return lambda _: order.append(name)

    for number in range(5):
        has_begun.clear()
        may_end.clear()
        threads = [threading.Thread(target=holding.run, args=(hold,))]
        threads[0].start()
        has_begun.wait(PATIENCE.total_seconds())
        threads.append(threading.Thread(target=waiting.run, args=(write(f"first {number}"),)))
        threads[-1].start()
        _until_somebody_is_next(tmp_path)
        threads.append(threading.Thread(target=coming.run, args=(write(f"second {number}"),)))
        threads[-1].start()
        may_end.set()
        for thread in threads:
            thread.join()
    for one in (holding, waiting, coming):
        one.dispose()
    assert order == [f"{which} {number}" for number in range(5) for which in ("first", "second")]


def _until_somebody_is_next(folder: Path) -> None:
    looking = NextWriter(folder)
    deadline = time.monotonic() + PATIENCE.total_seconds()
    while time.monotonic() < deadline:
        with looking.waiting():
            if not looking.may_ask():
                break
        time.sleep(0.001)
    else:
        raise AssertionError("nobody is next")
    looking.close()
