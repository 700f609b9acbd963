"""What a tool has in its hands while it runs."""

from __future__ import annotations

import asyncio
import logging
import threading
from datetime import UTC, datetime

import pytest

from agent import ToolContext
from agent.rules.ids import CallId, OperationId, Principal, RunId
from agent.rules.known_secrets import KnownSecrets
from agent.tools.cancellation import Cancellation
from agent.tools.logger import ToolLogger
from agent.tools.progress import ProgressLine

CONTEXT = ToolContext(
    OperationId("op_1"), RunId("run_1"), CallId("call_1"), 1, "tester", Principal("cli:test")
)
NAMED = {"run_id": "run_1", "call_id": "call_1", "tool": "log_in"}
SECRETS = KnownSecrets(frozenset({"s3cr3t-1", 'qu"ote\n', "99"}))


def test_in_a_test_of_ones_own_six_fields_are_enough(caplog: pytest.LogCaptureFixture) -> None:
    CONTEXT.progress("3 of 7")
    CONTEXT.logger.warning("hello %s", "there")
    assert not CONTEXT.cancelled
    assert CONTEXT.deadline == datetime.max.replace(tzinfo=UTC)
    assert CONTEXT.seconds_left > 1e9
    assert caplog.messages == ["hello there"]


async def test_a_cancellation_wakes_whoever_waits_in_any_thread_and_loop() -> None:
    cancelled, answers = Cancellation(), list[object]()

    def plainly() -> None:
        answers.append(cancelled.wait(10))

    async def own() -> str:
        return await cancelled

    threads = [
        threading.Thread(target=plainly),
        threading.Thread(target=lambda: answers.append(asyncio.run(own()))),
    ]
    for thread in threads:
        thread.start()
    waiting = asyncio.ensure_future(own())
    assert not cancelled.wait(0)
    cancelled.set("the run is to be stopped")
    cancelled.set("too late")
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert await waiting == "the run is to be stopped"
    assert set(answers) == {True, "the run is to be stopped"}
    assert cancelled
    assert await own() == "the run is to be stopped"


async def test_whoever_waits_for_a_cancellation_may_give_up() -> None:
    cancelled = Cancellation()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await cancelled
    cancelled.set("over")
    assert await cancelled == "over"


async def test_of_a_thousand_words_the_newest_is_taken() -> None:
    line = ProgressLine()

    def work() -> None:
        for number in range(10_000):
            line.say(number)

    await asyncio.to_thread(work)
    assert await line.news() == "9999"
    line.say("more")
    assert await line.news() == "more"
    line.close()
    line.say("never heard")
    assert await line.news() is None


class NoWords:
    def __str__(self) -> str:
        raise ValueError("no")


async def test_what_can_not_be_put_into_words_fails_nobody() -> None:
    line = ProgressLine()
    line.say(NoWords())
    assert await line.news() == "(it can't be put into words: ValueError)"


def test_a_line_whose_loop_has_ended_is_said_to_nobody() -> None:
    async def make() -> ProgressLine:
        return ProgressLine()

    line = asyncio.run(make())
    line.say("one")
    line.say("two")


def test_a_log_line_names_its_call_and_hides_what_is_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = ToolLogger("tools.log_in", NAMED, SECRETS)
    with caplog.at_level(logging.INFO):
        log.info("with %s and %r, %d, 1990", "s3cr3t-1", 'qu"ote\n', 99)
        log.warning("%(key)s", {"key": "s3cr3t-1"}, extra={"key": "s3cr3t-1", "n": 3})
        try:
            raise ValueError("bad key s3cr3t-1")
        except ValueError:
            log.exception("it failed")
        log.info("%d", "no number")
        log.debug("not said")
    assert caplog.messages[0].startswith("run_1 call_1 log_in: with ••••••••(8 characters) and ")
    assert caplog.messages[0].endswith(", ••••••••(2 characters), 1990")
    record = caplog.records[1]
    extra = vars(record)
    assert (record.name, extra["run_id"], extra["n"]) == ("tools.log_in", "run_1", 3)
    assert record.funcName == "test_a_log_line_names_its_call_and_hides_what_is_secret"
    assert "ValueError: bad key ••••" in caplog.messages[2]
    assert "can't be put into words" in caplog.messages[3]
    assert len(caplog.messages) == 4
    assert "s3cr3t" not in str([vars(one) for one in caplog.records])
    assert "qu" not in caplog.messages[0].split("call_1")[1]
