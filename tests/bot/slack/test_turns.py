"""However many are said in a thread while one of them is slow: in order, and done once, though Slack does not wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from agent.errors import StoreUnavailable
from agent.rules.ids import Principal
from bot.slack import answering, hearing
from bot.slack.answering import Answer, Answering, SendAgain
from bot.slack.conversation import turns
from bot.slack.conversation.turns import Turns
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.talking import begun, message_at
from tests.bot.slack.workspace import Bot
from tests.sandbox.passing import time_passes

REPLIES = "conversations.replies"
SAID = Message(Actor("U0BOB"), "T0PILOT", "C0SUPPORT", "100.000001", "99.000001", "x", False)


def nth(number: int) -> Message:
    return replace(SAID, ts=f"100.{number:06}")


async def test_whoever_waits_longer_than_slack_does_still_waits_for_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard, all_of_them, slow = list[str](), Turns(), asyncio.Event()

    async def hear(message: Message) -> None:
        with all_of_them.of(message):
            if message is SAID:
                await slow.wait()
            await all_of_them.come(message)
            heard.append(message.ts)

    said = [SAID, *map(nth, range(2, 40))]
    hearing = [asyncio.create_task(hear(one)) for one in said]
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + answering.EVENT_SECONDS + 1)
    assert await asyncio.wait(hearing, timeout=0.05) == (set(), set(hearing))
    slow.set()
    await asyncio.gather(*hearing)
    assert heard == [one.ts for one in said]


async def test_what_is_too_much_is_left_to_slack_to_deliver_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "MOST", 2)
    all_of_them = Turns()
    with (
        all_of_them.of(nth(1)),
        all_of_them.of(replace(nth(2), thread_ts="98.000001")),
        pytest.raises(SendAgain),
        all_of_them.of(nth(3)),
    ):
        raise AssertionError("it is being heard")
    with all_of_them.of(nth(3)):
        pass


async def test_what_is_too_late_to_be_acknowledged_is_told_in_order_all_the_same(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await begun(bot)
    monkeypatch.setattr(answering, "EVENT_SECONDS", 0.1)
    # Whichever of them reads.
    bot.sandbox.faults.add(method=REPLIES, latency=8, times=99)
    words = [f"word {n}" for n in range(12)]
    inside = bot.sandbox.inside
    channel, bob = inside.workspace.channels["C0SUPPORT"], inside.workspace.users["U0BOB"]
    said = []
    for one in words:
        posted, _ = inside.posting.say(bob, channel, one, [], thread)
        said.append(await message_at(bot, str(posted["ts"])))
    hearing = [
        bot.services.answering.answer_when_done(
            Sayer(), answer_message(bot.services, one), one.key, f"Ev{one.ts}"
        )
        for one in said
    ]
    left = await asyncio.gather(*hearing, return_exceptions=True)
    assert [one for one in left if not isinstance(one, SendAgain)] == []
    bot.sandbox.faults.heal()
    await time_passes(8)

    async def told() -> list[str]:
        (state,) = await bot.runs()
        return [one.text for one in state.said]

    async def is_told() -> bool:
        return len(await told()) == len(words)

    await bot.sandbox.until(is_told, "the run has been told all of it")
    assert await told() == words


async def test_words_that_are_edited_while_they_wait_for_their_turn_count_as_they_are_then(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await begun(bot)
    inside = bot.sandbox.inside
    channel, bob = inside.workspace.channels["C0SUPPORT"], inside.workspace.users["U0BOB"]
    posted, _ = inside.posting.say(bob, channel, "half of it", [], thread)
    later = await message_at(bot, str(posted["ts"]))
    monkeypatch.setattr(hearing, "SLOW", 30.0)
    with bot.services.turns.of(replace(later, ts=f"{float(later.ts) - 0.0001:.6f}")):
        waiting = asyncio.create_task(answer_message(bot.services, later))
        await bot.sandbox.until(lambda: bot.sandbox.calls(REPLIES), "its thread is read")
        inside.messages.change("C0SUPPORT", later.ts, text="a third of it")
        assert await asyncio.wait([waiting], timeout=0.2) == (set(), {waiting})
        monkeypatch.setattr(hearing, "SLOW", -1.0)
    await waiting
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["a third of it"]


async def test_what_another_process_tells_as_it_reads_by_then_is_told_once_and_in_silence(
    bot: Bot,
) -> None:
    """Slack delivers to it what is too late here, and somebody has edited it between our looks."""
    thread = await begun(bot)
    inside, runtime = bot.sandbox.inside, bot.services.runtime
    channel, bob = inside.workspace.channels["C0SUPPORT"], inside.workspace.users["U0BOB"]
    posted, _ = inside.posting.say(bob, channel, "half of it", [], thread)
    later = await message_at(bot, str(posted["ts"]))
    (state,) = await bot.runs()
    with bot.services.turns.of(replace(later, ts=f"{float(later.ts) - 0.0001:.6f}")):
        waiting = asyncio.create_task(answer_message(bot.services, later))
        await bot.sandbox.until(lambda: bot.sandbox.calls(REPLIES), "its thread is read")
        by = Principal("slack:T0PILOT:U0BOB")
        await runtime.steer(state.run_id, "a third of it", by, ref=later.key)
    assert await waiting == Answer()
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["a third of it"]


async def test_what_slack_delivers_again_while_it_is_read_is_read_once(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await begun(bot)
    bot.sandbox.faults.add(method=REPLIES, latency=0.6)
    inside = bot.sandbox.inside
    channel, bob = inside.workspace.channels["C0SUPPORT"], inside.workspace.users["U0BOB"]
    posted, _ = inside.posting.say(bob, channel, "half of it", [], thread)
    event = inside.events.message(channel, inside.messages.read("C0SUPPORT", str(posted["ts"])))
    looks = len(bot.sandbox.calls(REPLIES))

    async def is_told() -> bool:
        (state,) = await bot.runs()
        return bool(state.said)

    with monkeypatch.context() as impatient:
        impatient.setattr(answering, "EVENT_SECONDS", 0.1)
        sending = [asyncio.create_task(inside.outbox.repeat(event, retry)) for retry in range(2)]
        await bot.sandbox.until(is_told, "the run has been told")
    assert (await inside.outbox.repeat(event, 2)).reply.acknowledged
    await bot.services.answering.wait(5)
    for one in sending:
        one.cancel()
    # What stood in the thread before it.
    assert len(bot.sandbox.calls(REPLIES)) == looks + 1
    assert len(bot.sandbox.deliveries("events_api")) >= 3


@dataclass
class Sayer:
    """Whoever said something, and what became of each delivery of it."""

    told: list[str] = field(default_factory=list)
    acknowledged: int = 0
    saving: str = ""

    async def acknowledge(self, answer: Answer | None) -> bool:
        self.acknowledged += 1
        return answer == Answer()

    async def tell(self, answer: Answer) -> None:
        self.told.append(answer.text)


async def test_what_slack_delivers_again_meanwhile_and_afterwards_is_done_and_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "EVENT_SECONDS", 0.01)
    all_of_them, slow, sayer = Answering(), asyncio.Event(), Sayer()
    done = 0

    async def work() -> Answer:
        nonlocal done
        await slow.wait()
        done += 1
        return Answer(text="Taken.")

    async def deliver() -> None:
        await all_of_them.answer_when_done(sayer, work(), "slack:1", "Ev1")

    for _ in range(2):
        with pytest.raises(SendAgain):
            await deliver()
    monkeypatch.undo()
    again = asyncio.create_task(deliver())
    await asyncio.sleep(0)
    slow.set()
    await again
    await all_of_them.wait(1)
    await deliver()
    assert (done, sayer.told, sayer.acknowledged) == (1, ["Taken."], 2)


async def test_what_failed_behind_its_acknowledgement_is_done_when_slack_delivers_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answering, "EVENT_SECONDS", 0.0)
    all_of_them, sayer, slow = Answering(), Sayer(), asyncio.Event()

    async def fail() -> Answer:
        await slow.wait()
        raise StoreUnavailable("away")

    with pytest.raises(SendAgain):
        await all_of_them.answer_when_done(sayer, fail(), "slack:1", "Ev1")
    slow.set()
    await all_of_them.wait(1)
    monkeypatch.undo()

    async def succeed() -> Answer:
        return Answer(text="Taken.")

    await all_of_them.answer_when_done(sayer, succeed(), "slack:1", "Ev1")
    await all_of_them.wait(1)
    assert (sayer.told, sayer.acknowledged) == (["Taken."], 1)
