"""Of a long thread the newest messages are found in a few looks, however people spoke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from agent.rules.given import QUOTED_COUNT
from bot.slack.quoting.newest import Page, Read, read_newest
from bot.slack.quoting.told import BEGINNING

BEGAN = 1_796_000_000
HOUR, YEAR = 3_600, 31_536_000
BEFORE = f"{BEGAN + YEAR + 9}.000000"


def spread(count: int, begin: float, end: float) -> Iterator[float]:
    return (BEGAN + begin + (end - begin) * number / count for number in range(1, count + 1))


#: Each with 3,000 messages, and the thread's first.
THREADS = {
    "evenly": [*spread(3_000, 0, YEAR)],
    "all lately": [*spread(3_000, YEAR - HOUR, YEAR)],
    "seldom, then often": [*spread(250, 0, YEAR - HOUR), *spread(2_750, YEAR - HOUR, YEAR)],
    "often, then seldom": [*spread(2_800, 0, HOUR), *spread(200, HOUR, YEAR)],
    "often, then nothing": [*spread(3_000, 0, HOUR)],
    "two rows": [*spread(1_500, 0, HOUR), *spread(1_500, YEAR - HOUR, YEAR)],
}


class Thread:
    """As Slack shows it."""

    def __init__(self, moments: Sequence[float], page: int = 200) -> None:
        self.all = [f"{moment:.6f}" for moment in (BEGAN, *moments)]
        self.page = page
        self.looks = 0

    async def between(self, since: str, until: str) -> Page:
        self.looks += 1
        root, *replies = self.all
        found = [root, *(ts for ts in replies if float(since) < float(ts) < float(until))]
        shown: list[dict[str, str]] = [{"ts": ts} for ts in found[: self.page]]
        shown[0]["latest_reply"] = self.all[-1]
        return Page(tuple(shown), len(found) <= self.page)

    async def read(self) -> Read:
        read = Read()
        await read_newest(self.between, read, BEGINNING, BEFORE)
        return read


def times(read: Read) -> list[str]:
    return [one["ts"] for one in read.messages]


@pytest.mark.parametrize("name", THREADS)
async def test_the_newest_of_a_long_thread_are_found_in_few_looks(name: str) -> None:
    thread = Thread(THREADS[name])
    read = await thread.read()
    found = times(read)
    assert found == thread.all[-len(found) :], "without a gap, up to the last"
    assert len(found) >= QUOTED_COUNT
    assert (read.is_whole, read.is_cut, thread.looks <= 5) == (True, True, True)


async def test_where_slack_shows_little_at_once_they_are_fewer() -> None:
    thread = Thread(THREADS["evenly"], page=15)
    read = await thread.read()
    found = times(read)
    assert (thread.looks, read.is_cut, len(found) > 10) == (5, True, True)
    assert found == thread.all[-len(found) :]


async def test_where_none_are_found_it_is_gone_on_with_behind_what_was_read() -> None:
    # Ever more at once, the later it is.
    thread = Thread([BEGAN + YEAR - YEAR / 3**number for number in range(1, 20)], page=4)
    read = await thread.read()
    assert (thread.looks, read.is_whole, read.is_cut) == (5, False, False)
    assert times(read) == thread.all[:16]


@pytest.mark.parametrize(("count", "looks"), [(0, 1), (199, 1), (230, 2)])
async def test_a_thread_that_is_not_long_is_read_from_its_beginning(count: int, looks: int) -> None:
    thread = Thread([*spread(count, 0, YEAR)])
    read = await thread.read()
    assert thread.looks == looks
    assert (times(read), read.is_whole, read.is_cut) == (thread.all, True, False)
