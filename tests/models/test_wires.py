"""The providers' wires, against a stand-in on loopback: what goes out, and what comes of whatever comes back.

Each test goes over a table by itself: to import the library takes seconds, and whoever runs one runs them all.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from agent.engine.agents import Agent
from agent.errors import ConfigError
from agent.models.library import LibraryModel
from agent.ports import (
    ContextOverflow,
    ModelCall,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
)
from agent.rules.budgets import Budget
from agent.rules.parts import ProviderState, Usage
from agent.tools.registry import Toolbox
from bot.models import check_models
from tests.models.conversing import (
    CHAT,
    CLAUDE,
    EACH,
    HELLO,
    PAY_TWICE,
    RESPONSES,
    SECRET,
    after,
    answers,
    asked_of_a_stand_in,
    model,
)
from tests.models.standin import (
    Deed,
    anthropic,
    anthropic_error,
    chat,
    cuts,
    drips,
    openai_error,
    responses,
    says,
    says_html,
    streams,
)

pytestmark = pytest.mark.timeout(180)


async def test_a_reply_is_told_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = {CHAT: "0.0035", RESPONSES: "0.00225", CLAUDE: "0.003"}
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        for name in EACH:
            stand_in.will(answers(name, "Both.", *PAY_TWICE))
            reply = await model(name).reply(HELLO)
            calls = ModelCall("c1", "shop.pay", '{"n": 1}'), ModelCall("c2", "shop.pay", '{"n": ')
            assert (reply.text, reply.calls) == ("Both.", calls), name
            assert reply.usage.model_dump(exclude={"cost_usd", "is_priced"}) == {
                "input_tokens": 1_000,
                "output_tokens": 100,
            }
            assert (reply.usage.cost_usd, reply.usage.is_priced) == (Decimal(prices[name]), True)
    assert len(stand_in.asked) == len(EACH)


async def test_a_conversation_goes_out_as_each_provider_wants_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what it wanted to have back; no arguments that are none, and no name with a dot."""
    bad = {"malformed": '{"n": '}
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        for name in EACH:
            stand_in.will(answers(name, "Both.", *PAY_TWICE), answers(name, "Done."))
            asked = model(name)
            await asked.reply(after(await asked.reply(HELLO)))
        sent = dict(zip(EACH, stand_in.asked[1::2], strict=True))

    talk = sent[CHAT]["messages"]
    assert [one["role"] for one in talk] == [
        *("system", "user", "assistant"),
        "tool",
        "tool",
        "user",
    ]
    assert [json.loads(one["function"]["arguments"]) for one in talk[2]["tool_calls"]] == [
        {"n": 1},
        bad,
    ]
    assert [one["content"] for one in talk[3:5]] == ['"paid"', '{"error":"not JSON"}']
    assert sent[CHAT]["tools"][0]["function"]["name"] == "shop__pay"

    items = sent[RESPONSES]["input"]
    assert [one.get("type", one.get("role")) for one in items] == [
        *("user", "reasoning", "message", "function_call", "function_call"),
        *("function_call_output", "function_call_output", "user"),
    ]
    assert (items[1]["id"], items[1]["encrypted_content"]) == ("rs_1", "sealed-thought")
    assert [json.loads(one["arguments"]) for one in items[3:5]] == [{"n": 1}, bad]
    assert (sent[RESPONSES]["store"], sent[RESPONSES]["instructions"]) == (False, "Be brief.")

    person, itself, results = sent[CLAUDE]["messages"]
    assert person["content"][0]["text"] == "hello"
    thought, text, *calls = itself["content"]
    assert (thought["thinking"], thought["signature"]) == ("Hm.", "signed-thought")
    assert (text["text"], [call["input"] for call in calls]) == ("Both.", [{"n": 1}, bad])
    assert [one.get("is_error") for one in results["content"]] == [False, True, None]
    assert sent[CLAUDE]["system"][0]["text"] == "Be brief."


async def test_what_a_model_wants_back_no_other_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(answers(CLAUDE, "Both.", *PAY_TWICE), answers(RESPONSES, "Done."))
        reply = await model(CLAUDE).reply(HELLO)
        await model(RESPONSES).reply(after(reply))
        stand_in.will(streams(anthropic("Done.")))
        await model("anthropic:claude-haiku-5-5").reply(after(reply))
    assert reply.provider is not None
    for sent in stand_in.asked[1:]:
        assert "signed-thought" not in json.dumps(sent)
        assert "Both." in json.dumps(sent)


async def failure_of(asked: LibraryModel) -> ModelUnavailable | ModelRefused:
    try:
        reply = await asked.reply(HELLO)
    except (ModelUnavailable, ModelRefused) as failed:
        return failed
    raise AssertionError(f"it answered: {reply}")


LATER = ModelUnavailable
MANY, BOOM, BUSY = "asked more often", "is in trouble (500)", "is overloaded (529)"


def troubles(name: str) -> dict[str, tuple[Deed, type[Exception], str]]:
    """What may come back instead of an answer, and what that is to be taken for."""
    is_claude = name == CLAUDE

    def error(words: str, status: int, kind: str = "x", **headers: str) -> Deed:
        body = anthropic_error(words, kind) if is_claude else openai_error(words, kind)
        return says(body, status, headers)

    too_long = (
        "prompt is too long: 208310 tokens > 200000 maximum"
        if is_claude
        else "maximum context length"
    )
    no_credit = ("billing_error", 400) if is_claude else ("insufficient_quota", 429)
    return {
        "asked too often": (error("slow", 429, **{"Retry-After": "7"}), LATER, MANY),
        "a fault of theirs": (error("boom", 500), LATER, BOOM),
        "too many ask": (error("busy", 529), LATER, BUSY),
        "at the same time": (error("wait", 409), LATER, "can't answer now (409)"),
        "a proxy's page": (says_html, LATER, "can't be read"),
        "a cut": (cuts, LATER, "failed or broke off"),
        "no key": (
            error(f"bad key {SECRET}", 401),
            ModelRefused,
            f"does not take the key in {'ANTHROPIC' if is_claude else 'OPENAI'}_API_KEY (401: bad key …)",
        ),
        "no credit": (error("low", no_credit[1], no_credit[0]), ModelRefused, "quota or credit"),
        "no such model": (error("none", 404), ModelRefused, "knows no model"),
        "no such request": (
            error("bad schema", 400),
            ModelRefused,
            "refuses the request (400: bad",
        ),
        "too large": (error("too large", 413), ContextOverflow, "longer than"),
        "too long": (
            *(error(too_long, 400, "invalid_request_error"), ContextOverflow),
            "longer than",
        ),
    }


async def test_a_failure_is_taken_for_what_it_is_and_tried_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        for name in EACH:
            for what, (deed, kind, words) in troubles(name).items():
                stand_in.will(deed)
                asked = len(stand_in.asked)
                failed = await failure_of(model(name))
                assert (type(failed), len(stand_in.asked) - asked) == (kind, 1), (name, what)
                assert words in str(failed), (name, what)
                assert SECRET not in str(failed)
                if isinstance(failed, ModelUnavailable):
                    expected = 7.0 if what == "asked too often" else None
                    assert failed.retry_after == expected, (name, what)


async def test_bytes_that_come_slowly_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a stand-in of its own: it may be asked later than is waited."""
    for name in EACH:
        async with asked_of_a_stand_in(monkeypatch) as stand_in:
            stand_in.will(drips)
            failed = await failure_of(model(name, timeout=0.15))
            assert (type(failed), str(failed)) == (LATER, f"{name} did not answer in time.")
            assert len(stand_in.asked) <= 1


WHOLE = anthropic("Both.", *PAY_TWICE)
#: What looks like an answer and is none, or not all of one: who says it, and what it is taken for.
NOT_WHOLE: dict[str, tuple[str, Deed, type[Exception], int | None]] = {
    "no choice": (CHAT, says(chat("x") | {"choices": []}), LATER, None),
    "no message": (
        CHAT,
        says(chat("x") | {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}),
        *(LATER, None),
    ),
    "at its limit": (CHAT, says(chat("x", *PAY_TWICE, finish="length")), ModelRefused, 100),
    "filtered": (CHAT, says(chat("x", finish="content_filter")), ModelRefused, 100),
    "ended somehow": (CHAT, says(chat("x", finish="guardrail")), LATER, 100),
    "at its limit, responses": (
        *(RESPONSES, says(responses("x", cut_off="max_output_tokens"))),
        *(ModelRefused, 100),
    ),
    "filtered, responses": (
        *(RESPONSES, says(responses("x", cut_off="content_filter"))),
        *(ModelRefused, 100),
    ),
    "at its limit, Claude": (CLAUDE, streams(anthropic("x", stop="max_tokens")), ModelRefused, 100),
    "filtered, Claude": (CLAUDE, streams(anthropic("x", stop="refusal")), ModelRefused, 100),
    "a stream that breaks": (CLAUDE, streams(WHOLE[:5], is_broken=True), LATER, None),
    "a stream that ends early": (CLAUDE, streams(WHOLE[:5]), LATER, None),
    "a stream that ends within a call": (CLAUDE, streams(WHOLE[:-4]), LATER, None),
    "a stream with an error in it": (
        *(CLAUDE, streams([*WHOLE[:3], anthropic_error("Overloaded", "overloaded_error")])),
        *(LATER, None),
    ),
}


async def test_what_is_not_whole_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it used is known where it says how it ended."""
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        for what, (name, deed, kind, output) in NOT_WHOLE.items():
            stand_in.will(deed)
            failed = await failure_of(model(name))
            assert type(failed) is kind, what
            assert (failed.usage and failed.usage.output_tokens) == output, what


async def test_a_cost_that_nobody_knows_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    own, silent = chat("hi") | {"model": "my-own"}, chat("hi")
    del silent["usage"]
    budget = Budget(cost_usd=Decimal(1))
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(says(own), says(silent))
        asked = model("openai-chat:my-own")
        first = (await asked.reply(HELLO)).usage
        assert first == Usage(input_tokens=1_000, output_tokens=100, is_priced=False)
        assert not (await asked.reply(HELLO)).usage.is_priced
        # A budget of costs can't be kept then, which is said before anything has begun.
        with pytest.raises(ConfigError, match=r"nobody knows what openai-chat:my-own costs"):
            check_models([Agent("a", asked, Toolbox(), budget=budget)])
        check_models([Agent("a", model(CHAT), Toolbox(), budget=budget)])


#: As 2.68.0 of the library wrote it, in the envelope of ours. Never changed: a later version adds its own.
KEPT: dict[str, dict[str, Any]] = {
    CLAUDE: {
        "lib": "pydantic-ai 2.68.0",
        "model": CLAUDE,
        "message": {
            "kind": "response",
            "parts": [
                {
                    **{"content": "Hm.", "id": None, "signature": "signed-thought"},
                    **{"provider_name": "anthropic", "provider_details": None},
                    "part_kind": "thinking",
                },
                {
                    **{"content": "", "id": None, "provider_name": None},
                    **{"provider_details": None, "citations": None, "part_kind": "text"},
                },
                *(
                    {
                        **{"tool_name": "shop__pay", "args": None, "tool_call_id": id},
                        **{"tool_kind": None, "id": None, "provider_name": None},
                        **{"provider_details": None, "part_kind": "tool-call"},
                    }
                    for id in ("c1", "c2")
                ),
            ],
            "model_name": "claude-sonnet-5-5",
            "provider_name": "anthropic",
            "provider_details": {"finish_reason": "tool_use"},
            "provider_response_id": "msg_1",
            "finish_reason": "tool_call",
        },
        "texts": [5],
    }
}


async def test_what_was_kept_by_any_version_is_still_had_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = ModelCall("c1", "shop.pay", '{"n": 1}'), ModelCall("c2", "shop.pay", '{"n": ')
    kept = ProviderState.model_validate(KEPT[CLAUDE])
    async with asked_of_a_stand_in(monkeypatch) as stand_in:

        async def sent_with(provider: ProviderState | None) -> list[dict[str, Any]]:
            stand_in.will(streams(anthropic("Done.")))
            await model(CLAUDE).reply(after(ModelReply("Both.", calls, provider=provider)))
            turn: list[dict[str, Any]] = stand_in.asked[-1]["messages"][1]["content"]
            return turn

        thought, *words = await sent_with(kept)
        assert (thought["signature"], len(words)) == ("signed-thought", 3)
        # What can't be put back whole, or read, is left out; what was said is not.
        unreadable = {"kind": "response", "parts": [{"part_kind": "of a later version"}]}
        for broken in (
            None,
            kept.model_copy(update={"texts": (4,)}),
            kept.model_copy(update={"message": unreadable}),
            kept.model_copy(update={"message": {"kind": "request", "parts": []}}),
        ):
            assert await sent_with(broken) == words
        # This version writes it as it did.
        stand_in.will(answers(CLAUDE, "Both.", *PAY_TWICE))
        written = (await model(CLAUDE).reply(HELLO)).provider
        assert written is not None
        assert written.message.pop("provider_url") == stand_in.url
        assert written.model_dump(mode="json")["message"] == KEPT[CLAUDE]["message"]
        # What can't be kept, or is too much, is not.
        from pydantic_ai.messages import ModelResponse, ThinkingPart

        from agent.models.having_back import keep

        details = {"p": object()}
        no_json = ThinkingPart("Hm.", provider_name="anthropic", provider_details=details)
        assert keep(ModelResponse([no_json]), CLAUDE) is None
        monkeypatch.setattr("agent.models.having_back.SIZE_LIMIT", 100)
        stand_in.will(answers(CLAUDE, "Both."))
        assert (await model(CLAUDE).reply(HELLO)).provider is None


async def test_a_request_may_have_nothing_but_words(monkeypatch: pytest.MonkeyPatch) -> None:
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(answers(CHAT, "Hi."))
        reply = await model(CHAT).reply(ModelRequest("", HELLO.messages, ()))
    assert (reply.text, reply.calls, reply.provider) == ("Hi.", (), None)
    assert [one["role"] for one in stand_in.asked[0]["messages"]] == ["user"]
    assert "tools" not in stand_in.asked[0]
