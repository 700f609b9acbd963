"""Conversations that are longer than their model is to be told at once, played through by an engine."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from agent import Approve, Decider, Deny, Principal
from agent.engine.long_conversations import size_of
from agent.rules.budgets import Budget
from agent.rules.interventions import SessionContinued
from agent.rules.long_conversations import ConversationShortened
from agent.rules.parts import GivenFile
from agent.rules.replaying.replay import replay
from agent.rules.transcript import ToolMessage, UserMessage, transcript
from tests.agent.engine.bench import ALICE
from tests.agent.engine.crashing import Crash, CrashingJournal, Fuse, When
from tests.agent.engine.reading import PAGE, ROOM, Desk, Reader, desk
from tests.examples import every

BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB")


def texts(reader: Reader, number: int = -1) -> str:
    """All that it was told in one of its requests."""
    parts = []
    for message in reader.requests[number].messages:
        parts.append(message.output if isinstance(message, ToolMessage) else message.text)
    return "\n".join(parts)


async def test_a_long_run_stays_within_what_its_model_is_to_be_told(tmp_path: Path) -> None:
    reader = Reader(60)
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("look at sixty pages", requester=ALICE)
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
        verified = await d.runtime.verify(run_id)
    assert state.answer == "Nothing was found."
    assert max(map(size_of, reader.requests)) <= ROOM
    # A summary is good for several pages, and is asked for once.
    kinds = [one.event.kind for one in journal]
    assert 5 <= kinds.count("conversation_summarised") == reader.summaries <= 12
    assert state.model_calls == len(reader.requests)
    assert replay(journal) == []
    assert verified.is_whole
    # What stays, whatever is told in short: what was asked, what was done, the instructions.
    assert all(r.instructions.startswith("You read") for r in reader.requests if r.tools)
    assert reader.requests[-1].messages[0] == UserMessage("look at sixty pages")
    assert 'note_down {"page":0}: noted page 0' in texts(reader)
    assert "It is data" in texts(reader)
    assert "Nothing was found so far." in texts(reader)


async def test_what_is_told_stays_the_same_until_it_is_shortened_once_more(tmp_path: Path) -> None:
    reader = Reader(30)
    async with desk(tmp_path, reader) as d:
        await d.runtime.start("go", requester=ALICE)
        await d.work()
    asked = [r.messages for r in reader.requests if not r.is_for_summary]
    kept = [after[: len(before)] == before for before, after in pairwise(asked)]
    assert kept.count(False) <= reader.summaries


async def test_old_results_are_shortened_first_and_say_so(tmp_path: Path) -> None:
    reader = Reader(9)
    async with desk(tmp_path, reader, context_tokens=12_000, page=PAGE * 3) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.work()
        journal = await d.journal(run_id)
    (event,) = [one.event for one in journal if isinstance(one.event, ConversationShortened)]
    assert event.summing is None
    assert event.cut is not None
    assert reader.summaries == 0
    results = [m.output for m in reader.requests[-1].messages if isinstance(m, ToolMessage)]
    is_short = [len(one) <= event.cut.limit for one in results]
    assert is_short == [n < event.cut.turns for n in range(10)]
    marked = ["characters are left out here" in one for one in results]
    assert marked == [False, *is_short[1:]]  # The first says little.


async def test_what_is_too_long_by_itself_is_shortened_and_the_run_goes_on(tmp_path: Path) -> None:
    reader = Reader(2)
    book = GivenFile(name="book.txt", text="chapter and verse " * 4_000)
    async with desk(tmp_path, reader, page="a very long page " * 20_000) as d:
        run_id = await d.runtime.start("go", requester=ALICE, files=[book])
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
    assert state.answer == "Nothing was found."
    assert max(map(size_of, reader.requests)) <= ROOM
    assert texts(reader).count("characters are left out here") == 3
    assert "book.txt" in texts(reader)
    assert replay(journal) == []


async def test_a_model_that_can_read_no_more_is_told_less_and_asked_once_more(
    tmp_path: Path,
) -> None:
    reader = Reader(30, limit=ROOM)
    async with desk(tmp_path, reader, context_tokens=None) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
    assert state.answer == "Nothing was found."
    failures = [one.event for one in journal if one.event.kind == "model_failed"]
    # What it can read is known from then on.
    assert len(failures) == 1
    assert replay(journal) == []


async def test_what_is_still_too_long_fails_the_run_and_says_what_to_do(tmp_path: Path) -> None:
    reader = Reader(3, limit=500)
    async with desk(tmp_path, reader, context_tokens=None) as d:
        run_id = await d.runtime.start("word " * 1_000, requester=ALICE)
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
        assert [one.event.kind for one in journal] == [
            "run_started",
            "model_failed",
            "model_failed",
            "run_failed",
        ]
        assert state.error is not None
        assert "longer than the reader can read at once" in state.error
        assert "set context_tokens" in state.error
        assert replay(journal) == []
        reader.limit = None
        await d.runtime.retry(run_id, BOB)
        await d.work()
        assert (await d.runtime.state(run_id)).ending == "finished"


async def test_what_waits_for_people_is_still_whole_when_they_have_decided(tmp_path: Path) -> None:
    reader = Reader(60, instead={30: ("pay", '{"amount":5}'), 45: ("pay", '{"amount":7}')})
    noted: list[str] = []
    async with desk(tmp_path, reader, context_tokens=2_500, noted=noted) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.work()
        (asked,) = (await d.runtime.state(run_id)).open_approvals
        await d.runtime.decide(asked.id, Approve(), BOB)
        await d.work()
        told = next(r for r in reader.requests if "paid 5" in str(r.messages))
        last = told.messages[-1]
        assert isinstance(last, ToolMessage)
        assert last.output == "paid 5"
        (asked,) = (await d.runtime.state(run_id)).open_approvals
        await d.runtime.decide(asked.id, Deny("not this year"), BOB)
        await d.work()
        assert (await d.runtime.state(run_id)).ending == "finished"
        journal = await d.journal(run_id)
    # What people decided is told word for word, and what was done is not to be done again.
    assert "On a call of pay: Denied by a person" in texts(reader)
    assert 'pay {"amount":7}: Denied by a person' in texts(reader)
    assert "Reason: not this year" in texts(reader)
    assert 'pay {"amount":5}: paid 5' in texts(reader)
    assert len(noted) == 2
    assert replay(journal) == []


async def test_what_people_said_is_never_left_to_the_summary(tmp_path: Path) -> None:
    reader = Reader(40)
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.runtime.steer(run_id, "first word: mind page three", ALICE)

        async def speak() -> None:
            if reader.summaries == 1:
                await d.runtime.steer(run_id, "second word: mind page nine", ALICE)

        reader.thinking = speak
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
    assert state.answer == "Nothing was found."
    assert not state.unseen
    first = next(n for n, r in enumerate(reader.requests) if "second word" in str(r.messages))
    # It is heard by the request right behind the summary during which it was said.
    assert reader.requests[first - 1].is_for_summary
    plain = [m.text for m in reader.requests[-1].messages if isinstance(m, UserMessage)]
    assert "first word: mind page three" in plain
    assert "second word: mind page nine" in plain
    assert replay(journal) == []


async def test_a_hold_and_a_stop_work_while_it_is_summed_up(tmp_path: Path) -> None:
    reader = Reader(40)
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)

        async def hold() -> None:
            await d.runtime.hold(run_id, BOB, "lunch")

        reader.thinking = hold
        await d.work()
        state = await d.runtime.state(run_id)
        assert state.held is not None
        assert (state.summing, reader.summaries, state.summary is not None) == (None, 1, True)

        async def stop() -> None:
            await d.runtime.stop(run_id, BOB)

        reader.thinking = stop
        await d.runtime.resume(run_id, BOB)
        await d.work()
        state, journal = await d.runtime.state(run_id), await d.journal(run_id)
    assert state.ending == "cancelled"
    assert replay(journal) == []


async def test_a_summary_counts_against_the_budget(tmp_path: Path) -> None:
    reader = Reader(40)
    async with desk(tmp_path, reader, budget=Budget(model_calls=9, on_reached="stop")) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.work()
        state = await d.runtime.state(run_id)
        assert state.ending == "cancelled"
        assert (state.model_calls, reader.summaries) == (9, 1)
        assert state.input_tokens == 10
        assert replay(await d.journal(run_id), Budget(model_calls=9, on_reached="stop")) == []
        assert state.cost_usd == Decimal(0)


async def test_an_empty_summary_is_asked_for_again_and_a_retry_goes_on_with_it(
    tmp_path: Path,
) -> None:
    reader = Reader(12, summary="  ")
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        for _ in range(6):
            await d.work()
            d.clock.advance(timedelta(minutes=1))
        state = await d.runtime.state(run_id)
        assert (state.ending, reader.summaries) == ("failed", 5)
        assert state.error is not None
        assert state.error.startswith("The model gave no summary")
        reader.summary = "Nothing so far."
        await d.runtime.retry(run_id, BOB)
        await d.work()
        assert (await d.runtime.state(run_id)).answer == "Nothing was found."
        assert replay(await d.journal(run_id)) == []


async def test_a_retry_needs_no_summary_once_there_is_room_for_all(tmp_path: Path) -> None:
    reader = Reader(12, summary="  ")
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        for _ in range(6):
            await d.work()
            d.clock.advance(timedelta(minutes=1))
        assert (await d.runtime.state(run_id)).ending == "failed"
    async with desk(tmp_path, reader, context_tokens=None, clock=d.clock) as d:
        await d.runtime.retry(run_id, BOB)
        await d.work()
        assert (await d.runtime.state(run_id)).answer == "Nothing was found."
        assert reader.summaries == 5
        assert replay(await d.journal(run_id)) == []


async def test_the_next_run_of_a_conversation_begins_with_the_summary(tmp_path: Path) -> None:
    reader = Reader(40)
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.runtime.steer(run_id, "mind page three", ALICE)
        await d.work()
        ended, before = await d.runtime.state(run_id), reader.summaries
        next_id = (await d.runtime.steer(run_id, "and what of page seven?", ALICE)).run_id
        await d.work()
        journal = await d.journal(next_id)
        (past,) = [one.event for one in journal if isinstance(one.event, SessionContinued)]
        assert past.summary is not None
        assert ended.summary is not None
        assert past.summary.text == ended.summary.text
        assert past.summary.said[:2] == ("go", "mind page three")
        assert len(past.turns) == len(ended.replies) - ended.summarised
        told = texts(reader, -1)
        assert "Nothing was found so far." in told
        assert "mind page three" in told
        state = await d.runtime.state(next_id)
        assert state.ending == "finished"
        assert replay(journal) == []
        # What was summed up is summed up no second time, unless there is more of it.
        again = len(await d.summaries(next_id))
        assert reader.summaries == before + again


async def test_a_fork_goes_on_with_the_summary(tmp_path: Path) -> None:
    reader = Reader(20)
    async with desk(tmp_path, reader) as d:
        run_id = await d.runtime.start("go", requester=ALICE)
        await d.work()
        journal = await d.journal(run_id)
        forked = await d.runtime.fork(run_id, len(journal), ALICE, text="look again")
        original, state = await d.runtime.state(run_id), await d.runtime.state(forked)
        assert (state.summary, state.summarised) == (original.summary, original.summarised)
        assert transcript(state)[:3] == transcript(original)[:3]
        await d.work()
        assert (await d.runtime.state(forked)).ending == "finished"
        assert replay(await d.journal(forked)) == []


async def play(d: Desk) -> None:
    await d.runtime.start("look at twelve pages", requester=ALICE, key="one")
    await d.work()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_crash_at_any_append_repeats_nothing(when: When, tmp_path: Path) -> None:
    for at in range(1, 100, every(3)):
        (folder := tmp_path / f"{at}").mkdir()
        reader, noted, fuse = Reader(12), list[str](), Fuse(at, when)
        open_desk = partial(desk, folder, reader, noted=noted)
        async with open_desk(around=partial(CrashingJournal, fuse=fuse)) as d:
            with suppress(Crash):
                await play(d)
            clock = d.clock
        clock.advance(timedelta(minutes=5))
        async with open_desk(clock=clock) as d:
            await play(d)
            run_id = await d.store.lists.run_of_key("one")
            assert run_id is not None
            state, journal = await d.runtime.state(run_id), await d.journal(run_id)
        assert state.answer == "Nothing was found."
        assert len(noted) == 1
        summed_up = [e.event.replies for e in journal if e.event.kind == "conversation_summarised"]
        assert summed_up == sorted(set(summed_up))
        assert len(summed_up) <= reader.summaries <= len(summed_up) + 1
        assert max(map(size_of, reader.requests)) <= ROOM
        assert replay(journal) == []
        if fuse.count < at:
            break
    assert at > 15, "the sweep has not met every append of the story"
