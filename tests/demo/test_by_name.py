"""The demo's model calls any tool that somebody names, with what they say."""

from __future__ import annotations

from typing import Any

import pytest

from agent.ports import ToolSpec
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from bot.demo.by_name import called_by_name

STOCK = ToolSpec(
    "count_stock",
    "Count.",
    {
        "properties": {
            "item": {"type": "string"},
            "at": {"type": "array"},
            "most": {"type": "integer"},
        },
        "required": ["item"],
    },
)


def asked(*messages: Message | str) -> Any:
    said = [UserMessage(one) if isinstance(one, str) else one for one in messages]
    return called_by_name(said, [STOCK])


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("use count_stock item=cup most=3", {"item": "cup", "most": 3}),
        ("Use count_stock cup", {"item": "cup"}),
        ("please use count_stock item=7", {"item": "7"}),
        ('use count_stock item=\'a b\' at=["x", "y"]', {"item": "a b", "at": ["x", "y"]}),
        ('use count_stock item="say \\"hi\\" now"', {"item": 'say "hi" now'}),
        ("use count_stock", {}),
    ],
)
def test_a_tool_that_is_named_is_called(words: str, args: dict[str, Any]) -> None:
    assert asked(words) == ("", (("count_stock", args),))


@pytest.mark.parametrize("words", ["use only 95", "count_stock", "refund ORD-1 180", "use it"])
def test_other_words_are_left_to_the_rest_of_it(words: str) -> None:
    assert asked(words) is None


def test_what_others_said_calls_nothing() -> None:
    assert asked(UserMessage("use count_stock cup", is_data=True)) is None


def test_what_became_of_it_is_said_and_what_a_newer_message_dropped_is_called_again() -> None:
    reply = AssistantMessage("", ())
    answer = ToolMessage("m1", "count_stock", '{"cups": 3}')
    assert asked("use count_stock cup", answer) == ('count_stock: {"cups": 3}', ())
    dropped = ToolMessage(
        "m1",
        "count_stock",
        "Not executed and not queued. A newer message arrived before it began; more.",
    )
    assert asked("use count_stock cup", dropped, "hm")[1] == (("count_stock", {"item": "cup"}),)
    assert asked("use count_stock cup", reply, "and now?") is None
