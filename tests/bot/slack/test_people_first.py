"""Who waits for an acknowledgement, and what waits for them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from agent.rules.ids import RunId
from bot.slack import answering
from bot.slack.answering import Answer, Answering, Redrawn
from bot.slack.cards.message import Message
from bot.slack.people_first import TURN_SECONDS, PeopleFirst
from tests.bot.thread.scene import eventually

CARD = Redrawn(RunId("run_1"), Message("Denied", ()))


@dataclass
class Waiting:
    """Somebody whose answer takes until ``done``."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    saving: str = "Still at it."

    async def acknowledge(self, answer: Answer | None) -> bool:
        return True

    async def tell(self, answer: Answer) -> None:
        raise AssertionError("they have been told all there is")

    async def work(self) -> Answer:
        await self.done.wait()
        return Answer()


async def test_somebody_who_waits_too_long_is_known_until_they_are_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "PRESSED_AFTER_SECONDS", 0.02)
    all_of_them, first, second = Answering(), Waiting(), Waiting()
    tasks = [
        asyncio.create_task(all_of_them.answer(one, one.work(), "apr_1")) for one in (first, second)
    ]
    await eventually(lambda: all_of_them.is_pressed)
    first.done.set()
    await tasks[0]
    assert all_of_them.is_pressed, "the other one still waits"
    second.done.set()
    await tasks[1]
    assert not all_of_them.is_pressed


async def test_whom_nothing_could_be_told_in_time_is_waited_for_no_longer() -> None:
    all_of_them, one = Answering(patience=0.0), Waiting()
    await all_of_them.answer(one, one.work(), "apr_1")
    assert not all_of_them.is_pressed
    one.done.set()
    await all_of_them.drain(1)


@dataclass
class Slow(Waiting):
    """To whom it takes long to say anything."""

    told: list[Answer] = field(default_factory=list)
    is_heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def acknowledge(self, answer: Answer | None) -> bool:
        return False

    async def tell(self, answer: Answer) -> None:
        if answer.text == self.saving:
            await self.is_heard.wait()
        self.told.append(answer)

    async def work(self) -> Answer:
        await self.done.wait()
        return Answer(card=CARD, if_late="It was saved.")


async def test_a_card_is_redrawn_before_everything_is_said_to_whoever_had_to_wait() -> None:
    all_of_them, one = Answering(patience=0.0), Slow()
    await all_of_them.answer(one, one.work(), "apr_1")
    one.done.set()
    await eventually(lambda: one.told)
    assert one.told == [Answer(card=CARD)]
    one.is_heard.set()
    await all_of_them.wait(5)
    said = [(answer.text, answer.card) for answer in one.told[1:]]
    assert said == [(one.saving, None), ("It was saved.", None)]


def test_while_people_wait_what_can_wait_gets_a_turn_now_and_then() -> None:
    now, is_pressed = [0.0], [False]
    may_claim = PeopleFirst(lambda: is_pressed[0], lambda: now[0])
    assert [may_claim(), may_claim()] == [True, True]
    is_pressed[0] = True
    assert not may_claim()
    now[0] += TURN_SECONDS
    assert [may_claim(), may_claim()] == [True, False]
    is_pressed[0] = False
    assert may_claim()
