"""Words between the processes of a host: hints, whoever sends them."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from store.datagrams import HOST, Ear, tell
from store.life_locks import LifeLocks

LONG = 20


@pytest.fixture
def listeners(tmp_path: Path) -> LifeLocks:
    return LifeLocks(tmp_path / "listeners")


class Heard:
    """Counts looks; says of each whether there was anything to it."""

    def __init__(self, is_true: bool = True) -> None:
        self.looks = 0
        self._is_true = is_true
        self._looked = asyncio.Event()

    def __call__(self) -> bool:
        self.looks += 1
        self._looked.set()
        return self._is_true

    async def again(self) -> None:
        async with asyncio.timeout(LONG):
            await self._looked.wait()
        self._looked.clear()


def ports(listeners: LifeLocks) -> list[int]:
    return [int(name) for name in listeners.ids()]


def send(port: int, words: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaking:
        for _ in range(words):
            speaking.sendto(b"anything", (HOST, port))


async def test_each_listener_hears_a_word(listeners: LifeLocks) -> None:
    heard = [Heard(), Heard()]
    ears = [Ear(listeners, one) for one in heard]
    for ear in ears:
        ear.open()
    for _ in range(2):
        tell(listeners)
        for one in heard:
            await one.again()
    for ear in ears:
        ear.close()
        ear.close()
    assert ports(listeners) == []
    tell(listeners)


async def test_who_died_while_listening_is_forgotten(listeners: LifeLocks) -> None:
    dead = listeners.take("40123")
    assert dead is not None
    dead.release()
    ear = Ear(listeners, Heard())
    ear.open()
    assert len(ports(listeners)) == 1
    assert 40123 not in ports(listeners)
    ear.close()


@pytest.mark.parametrize("name", ["0", "70000", "-1", "a name"])
async def test_what_is_no_port_keeps_nobody_from_being_told(
    listeners: LifeLocks, name: str
) -> None:
    heard = Heard()
    ear = Ear(listeners, heard)
    ear.open()
    assert listeners.take(name) is not None
    tell(listeners)
    await heard.again()
    ear.close()


async def test_words_that_mean_nothing_cost_few_looks_and_keep_nothing_from_being_heard(
    listeners: LifeLocks,
) -> None:
    heard = Heard(is_true=False)
    ear = Ear(listeners, heard)
    ear.open()
    (port,) = ports(listeners)
    turns = 0
    for _ in range(50):
        await asyncio.to_thread(send, port, 100)
        await asyncio.sleep(0)
        turns += 1
    await heard.again()
    assert heard.looks <= turns
    before = heard.looks
    async with asyncio.timeout(LONG):
        while heard.looks == before:
            tell(listeners)
            await asyncio.sleep(0.001)
    ear.close()


async def test_where_no_file_can_be_made_nobody_hears_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "listeners").write_text("in the way")
    listeners = LifeLocks(tmp_path / "listeners")
    ear = Ear(listeners, Heard())
    ear.open()
    tell(listeners)
    ear.close()
