"""The demo's model: deterministic, no key, no network. It sees only the conversation and what tools there are."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent.ports import ModelCall, ModelReply, ModelRequest, ToolSpec
from agent.rules.parts import Usage
from agent.rules.transcript import ToolMessage, of_this_run
from bot.demo.doing_calls import WRITTEN, Doings, doings_in
from bot.demo.given import sum_up
from bot.demo.hearing import Heard, listen
from bot.demo.phrases import HELLO
from bot.demo.tasks import SHOP_TOOLS, Step, next_step, outcome
from bot.demo.written_calls import in_short

#: What is said to the shop's agent, and the tools that it takes.
_PHRASES: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"process_refund"}), "refund ORD-3300 180"),
    (frozenset({"process_refund", "ask_user"}), "refund ORD-3300 (asks how much)"),
    (
        frozenset({"process_refund"}),
        "refund ORD-1 150 and ORD-2 180 and ORD-3 20 (three at once; two are asked about on one card)",
    ),
    (
        frozenset({"process_refund", "send_voucher"}),
        "refund ORD-1 180 or voucher (a voucher if the refund is denied)",
    ),
    (
        frozenset({"send_voucher"}),
        "voucher ORD-7 20 shaky (nobody can tell whether it was sent)",
    ),
    (frozenset({"check_order"}), "check ORD-1 ORD-2 ORD-3 (takes a second each)"),
    (
        frozenset({"check_order"}),
        "while I work: also check ORD-9; only ORD-2; skip ORD-3; use only 95; check ORD-9 instead; forget it",
    ),
    (
        frozenset(),
        "sum it up; what does the file say (of what was said in the thread before, and of shared text files)",
    ),
    (
        frozenset({"search_policy"}),
        "search_policy refunds (any of my tools by its name, with its values)",
    ),
)
#: Those of the phrases in the shop's greeting.
_GREETED_WITH = frozenset({"process_refund", "check_order"})
#: Tools that these say something of.
_PHRASED = frozenset({"ask_user"}).union(*(needed for needed, _ in _PHRASES))
HELP = "\n".join(("I understand:", *(f"• {phrase}" for _, phrase in _PHRASES)))

_CALLS = """I am the demo's model, which is no language model: I make the calls that are written out to me.
{tools}
Values stand in this order or as name=value, in quotes where one is of several words. Several calls have “and” between them, \
or “then” where the next is to wait until the one before it went well."""
_NO_TOOLS = "I am the demo's model, which is no language model, and I have no tools: there is nothing that I can do."


class DemoModel:
    """Makes calls that are written out, of any tool; and for an agent of the shop's what is said in plain words. The
    same conversation gets the same answer."""

    name = "demo"

    async def reply(self, request: ModelRequest) -> ModelReply:
        messages = of_this_run(request.messages)
        doings = doings_in(messages, request.tools)
        text, wanted = "", doings.wanted
        prefix = WRITTEN
        if not wanted:
            text, wanted = _answer(doings, request.tools)
            prefix = "demo_"
        before = sum(isinstance(message, ToolMessage) for message in messages)
        calls = tuple(
            ModelCall(f"{prefix}{number}", tool, json.dumps(args))
            for number, (tool, args) in enumerate(wanted, before)
        )
        used = sum(len(str(message)) for message in request.messages) // 4
        return ModelReply(
            text=text,
            calls=calls,
            usage=Usage(input_tokens=used, output_tokens=len(text) // 4 + 20 * len(calls)),
        )


def help_for(tools: Sequence[ToolSpec]) -> str:
    """What it understands."""
    if _is_of_the_shop(tools):
        names = {tool.name for tool in tools}
        phrases = (f"• {phrase}" for needed, phrase in _PHRASES if needed <= names)
        others = in_short([tool for tool in tools if tool.name not in _PHRASED])
        return "\n".join(("I understand:", *phrases, *others))
    return _CALLS.format(tools="\n".join(in_short(tools))) if tools else _NO_TOOLS


def _is_of_the_shop(tools: Sequence[ToolSpec]) -> bool:
    return any(tool.name in SHOP_TOOLS for tool in tools)


def _answer(doings: Doings, tools: Sequence[ToolSpec]) -> Step:
    """Of what is no written call: the next calls of what was asked first and isn't done yet; at the end what became of
    all of it. What others said, and what stands in files, asks it for nothing."""
    heard = listen(doings.others, frozenset(tool.name for tool in tools))
    for task in heard.tasks:
        text, wanted = next_step(task)
        if wanted:
            return text, wanted
    return _last_word(doings, heard, tools), ()


def _last_word(doings: Doings, heard: Heard, tools: Sequence[ToolSpec]) -> str:
    lines = [*doings.outcome(), *(line for task in heard.tasks for line in outcome(task))]
    if heard.wants_summary:
        lines.append(sum_up(heard.given))
    if lines:
        return "\n".join((*lines, *heard.remarks))
    if heard.friendly == HELLO and not {tool.name for tool in tools} >= _GREETED_WITH:
        return f"Hello! {help_for(tools)}"
    if heard.friendly and not heard.remarks:
        return heard.friendly
    return f"I could not make sense of that. {help_for(tools)}"
