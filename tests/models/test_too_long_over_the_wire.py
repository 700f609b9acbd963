"""A provider that says a request is too long: what it is told then, on each wire, by a real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agent.engine.bench import ALICE
from tests.agent.engine.reading import desk
from tests.models.conversing import (
    CHAT,
    CLAUDE,
    EACH,
    RESPONSES,
    answers,
    asked_of_a_stand_in,
    model,
)
from tests.models.standin import Deed, Json, anthropic_error, openai_error, says

pytestmark = pytest.mark.timeout(180)

SUMMARY = "Pages one to five say nothing."


def too_long(name: str) -> Deed:
    """In the words of that provider."""
    if name == CLAUDE:
        words = "prompt is too long: 208310 tokens > 200000 maximum"
        return says(anthropic_error(words, "invalid_request_error"), 400)
    words = "This model's maximum context length is 128000 tokens."
    return says(openai_error(words, "invalid_request_error"), 400)


def told(sent: Json) -> str:
    return json.dumps(sent.get("messages") or sent.get("input"))


@pytest.mark.parametrize("name", EACH)
async def test_it_is_summed_up_and_asked_once_more(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [
        answers(name, "", ("look_up", f'{{"page": {number}}}', f"c{number}"))
        for number in range(1, 8)
    ]
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(*pages, too_long(name), answers(name, SUMMARY), answers(name, "Nothing."))
        async with desk(tmp_path, model(name), context_tokens=None) as d:
            run_id = await d.runtime.start("read all of it", requester=ALICE)
            await d.work()
            state, kinds = (
                await d.runtime.state(run_id),
                [one.event.kind for one in await d.journal(run_id)],
            )
        assert (state.ending, state.answer, state.error) == ("finished", "Nothing.", None)
        assert kinds[-5:] == [
            *("model_failed", "conversation_shortened", "conversation_summarised"),
            *("model_replied", "run_finished"),
        ]
        *_, refused, summing, again = stand_in.asked
    assert "tools" not in summing or not summing["tools"]
    assert "page 1" in told(summing)
    assert SUMMARY in told(again)
    assert "read all of it" in told(again)
    assert len(told(again)) < len(told(refused)) / 2
    # No result without its call, in the words of this wire.
    calls = {CHAT: '"tool_calls"', RESPONSES: '"function_call"', CLAUDE: '"tool_use"'}[name]
    results = {
        CHAT: '"role": "tool"',
        RESPONSES: '"function_call_output"',
        CLAUDE: '"tool_result"',
    }[name]
    assert told(again).count(calls) == told(again).count(results) >= 1


async def test_what_is_too_long_a_second_time_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(too_long(CLAUDE), too_long(CLAUDE))
        async with desk(tmp_path, model(CLAUDE), context_tokens=None) as d:
            run_id = await d.runtime.start("read all of it", requester=ALICE)
            await d.work()
            state = await d.runtime.state(run_id)
    assert state.ending == "failed"
    assert state.error is not None
    assert "is longer than anthropic:claude-sonnet-5-5 can read at once (400:" in state.error
    assert "context_tokens" in state.error
