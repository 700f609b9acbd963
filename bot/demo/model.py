"""The demo's model: deterministic, no key, no network. It sees only the conversation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agent.ports import ModelCall, ModelReply, ModelRequest
from agent.rules.parts import Usage
from agent.rules.transcript import Message, ToolMessage, of_this_run
from bot.demo.by_name import called_by_name
from bot.demo.given import sum_up
from bot.demo.hearing import Heard, listen
from bot.demo.tasks import Step, next_step, outcome

HELP = """I understand:
• refund ORD-3300 180
• refund ORD-3300 (asks how much)
• refund ORD-1 150 and ORD-2 180 and ORD-3 20 (three at once; two are asked about on one card)
• refund ORD-1 180 or voucher (a voucher if the refund is denied)
• voucher ORD-7 20 shaky (nobody can tell whether it was sent)
• check ORD-1 ORD-2 ORD-3 (takes a second each)
• while I work: also check ORD-9; only ORD-2; skip ORD-3; use only 95; check ORD-9 instead; forget it
• use TOOL name=value (any tool of the agent's, by its name)
• sum it up; what does the file say (of what was said in the thread before, and of shared text files)"""


class DemoModel:
    """Refunds, vouchers and checks of orders, and any tool by its name; the same conversation gets the same answer."""

    name = "demo"

    async def reply(self, request: ModelRequest) -> ModelReply:
        messages = of_this_run(request.messages)
        text, wanted = called_by_name(messages, request.tools) or _answer(messages)
        before = sum(isinstance(message, ToolMessage) for message in messages)
        calls = tuple(
            ModelCall(f"demo_{number}", tool, json.dumps(args))
            for number, (tool, args) in enumerate(wanted, before)
        )
        used = sum(len(str(message)) for message in request.messages) // 4
        return ModelReply(
            text=text,
            calls=calls,
            usage=Usage(input_tokens=used, output_tokens=len(text) // 4 + 20 * len(calls)),
        )


def _answer(messages: Sequence[Message]) -> Step:
    """The next calls of what was asked first and isn't done yet; at the end what became of all of it. What others
    said, and what stands in files, asks it for nothing."""
    heard = listen(messages)
    for task in heard.tasks:
        text, wanted = next_step(task)
        if wanted:
            return text, wanted
    return _last_word(heard), ()


def _last_word(heard: Heard) -> str:
    lines = [line for task in heard.tasks for line in outcome(task)]
    if heard.wants_summary:
        lines.append(sum_up(heard.given))
    if lines:
        return "\n".join((*lines, *heard.remarks))
    if heard.friendly and not heard.remarks:
        return heard.friendly
    return f"I could not make sense of that. {HELP}"
