"""The demo's model: deterministic, no key, no network. It sees only the conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from agent.ports import ModelCall, ModelReply, ModelRequest
from agent.rules.parts import Usage
from agent.rules.transcript import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    of_this_run,
)

HELP = """I understand:
• refund ORD-3300 180
• refund ORD-3300 (asks how much)
• refund ORD-1 150 and ORD-2 180 and ORD-3 20 (three at once; two are asked about on one card)
• refund ORD-1 180 or voucher (a voucher if the refund is denied)
• voucher ORD-7 20 shaky (nobody can tell whether it was sent)
• check ORD-1 ORD-2 ORD-3 (takes a second each)"""

# The whole word: half of "1e9" or "180k" would be another amount than was meant.
_PAIR = r"(?P<order>[^\s,]+)[,\s]+(?P<amount>-?\$?\d\S*)"
_REFUND = re.compile(rf"\brefund\s+{_PAIR}", re.IGNORECASE)
_REFUND_HOW_MUCH = re.compile(r"\brefund\s+(?P<order>ORD-\d+)\s*[.!?]*\s*$", re.IGNORECASE)
_AND = re.compile(rf"\band\s+(?:refund\s+)?{_PAIR}", re.IGNORECASE)
_VOUCHER = re.compile(rf"\bvoucher\s+{_PAIR}(?:\s+(?P<line>shaky|steady))?", re.IGNORECASE)
_OR_VOUCHER = re.compile(r"\bor\s+(?:a\s+)?voucher\b", re.IGNORECASE)
_CHECK = re.compile(r"\bcheck((?:[,\s]+ORD-\d+)+)", re.IGNORECASE)
_AMOUNT = re.compile(r"(?<![\w-])\$?(\d[\d,]*(?:\.\d+)?)(?![\w-])")

Arguments = dict[str, Any]
#: A tool and what it is called with.
_Wanted = tuple[str, Arguments]
#: What it says, and the calls that it wants.
_Answer = tuple[str, tuple[_Wanted, ...]]


@dataclass(frozen=True, slots=True)
class _Done:
    """A call of the conversation with its one result."""

    tool: str
    args: Arguments
    output: str
    is_error: bool

    @property
    def fact(self) -> Arguments | None:
        """What the tool said, if it ran and succeeded."""
        try:
            said = json.loads(self.output.splitlines()[-1])
        except (ValueError, IndexError):
            return None
        return said if isinstance(said, dict) and not self.is_error else None

    @property
    def guidance(self) -> str | None:
        return _after(self.output, "A person wants it done otherwise: ")


class DemoModel:
    """Refunds, vouchers and checks of orders; the same conversation gets the same answer."""

    name = "demo"

    async def reply(self, request: ModelRequest) -> ModelReply:
        messages = of_this_run(request.messages)
        text, wanted = _answer(messages)
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


def _answer(messages: Sequence[Message]) -> _Answer:
    """To the newest message that it can make sense of, with what was said and done since. What others said, and
    what stands in files, asks it for nothing."""
    messages = [m for m in messages if not (isinstance(m, UserMessage) and m.is_data)]
    for begin in reversed(range(len(messages))):
        if isinstance(messages[begin], UserMessage):
            since = messages[begin:]
            own, *later = [m.text for m in since if isinstance(m, UserMessage)]
            # "refund ORD-1" may be told "$20" later; but it asks how much where only thanks follow.
            for text in (" ".join((own, *later)), own):
                for pattern, act in _SKILLS:
                    match = pattern.search(text)
                    if match and match.start() < len(own):
                        return act(text, match, _done(since))
    return f"I could not make sense of that. {HELP}", ()


def _refund(prompt: str, match: re.Match[str], done: Sequence[_Done]) -> _Answer:
    if not done:
        return "I look up the refund policy first.", _calls("search_policy", {"topic": "refunds"})
    if not _refunds(done):
        wanted = [_pair(m) for m in (match, *_AND.finditer(prompt, match.end()))]
        return "", _calls("process_refund", *wanted)
    return _after_refunds(prompt, done)


def _refund_how_much(prompt: str, match: re.Match[str], done: Sequence[_Done]) -> _Answer:
    order = match["order"].upper()
    if not done:
        question = f"How much of {order} is to be refunded?"
        return "", _calls("ask_user", {"question": question, "options": _AMOUNTS})
    if _refunds(done):
        return _after_refunds(prompt, done)
    answer = _after(done[0].output, "answered: ") or done[0].output
    if amount := _AMOUNT.search(answer):
        wanted = {"order": order, "amount": amount[1].replace(",", "")}
        return "", _calls("process_refund", wanted)
    return f"Nothing was refunded: I find no amount in the answer. I was told: {answer}", ()


_AMOUNTS = ["$20", "$90", "$180"]


def _refunds(done: Sequence[_Done]) -> bool:
    return any(one.tool == "process_refund" for one in done)


def _after_refunds(prompt: str, done: Sequence[_Done]) -> _Answer:
    last = done[-1]
    if last.guidance is not None and (amount := _AMOUNT.search(last.guidance)):
        again = {**last.args, "amount": amount[1].replace(",", "")}
        return "", _calls("process_refund", again)
    was_denied = last.tool == "process_refund" and last.output.startswith("Denied")
    if was_denied and _OR_VOUCHER.search(prompt):
        return "Then a voucher.", _calls("send_voucher", {**last.args, "amount": "20"})
    return "\n".join(_say(d) for d in done if d.tool in _NAMES), ()


def _voucher(prompt: str, match: re.Match[str], done: Sequence[_Done]) -> _Answer:
    if not done:
        line = (match["line"] or "steady").lower()
        return "", _calls("send_voucher", {**_pair(match), "line": line})
    return "\n".join(_say(d) for d in done), ()


def _check(prompt: str, match: re.Match[str], done: Sequence[_Done]) -> _Answer:
    orders = re.findall(r"ORD-\d+", match[1].upper())
    if len(done) < len(orders):
        return "", _calls("check_order", {"order": orders[len(done)]})
    return "\n".join(_say(d) for d in done), ()


_SKILLS: tuple[
    tuple[
        re.Pattern[str],
        Callable[[str, re.Match[str], Sequence[_Done]], _Answer],
    ],
    ...,
] = (
    (_REFUND, _refund),
    (_REFUND_HOW_MUCH, _refund_how_much),
    (_VOUCHER, _voucher),
    (_CHECK, _check),
)

_NAMES = {"process_refund": "refund", "send_voucher": "voucher", "check_order": "check"}


def _say(done: _Done) -> str:
    """One call's outcome, for the last word."""
    order, name = done.args.get("order"), _NAMES[done.tool]
    fact = done.fact
    if fact is not None and done.tool == "process_refund":
        return f"Refund of {_usd(fact['amount'])} for {fact['order']} is complete."
    if fact is not None and done.tool == "send_voucher":
        return f"A voucher of {_usd(fact['amount'])} for {fact['order']} is on its way."
    if fact is not None:
        return f"{fact['order']} is {fact['state']}."
    what = f"The {name} of {_usd(done.args['amount'])}" if "amount" in done.args else f"The {name}"
    if done.output.startswith("Denied"):
        reason = _after(done.output, "Reason: ")
        why = f" Reason: {reason}" if reason else ""
        return f"{what} for {order} was denied, and nothing was done.{why}"
    if done.guidance is not None:
        return f"{what} for {order} was not made. I was told: {done.guidance}"
    if problem := _after(done.output, "The arguments do not fit. "):
        return f"{what} for {order} can't be made. {problem}"
    return f"{what} for {order}: {done.output}"


def _done(messages: Sequence[Message]) -> list[_Done]:
    """Each call with its result, in the order of the conversation: the results of a reply follow it
    in the order of its calls."""
    done: list[_Done] = []
    calls: list[Any] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = list(message.calls)
        elif isinstance(message, ToolMessage) and calls:
            args = json.loads(calls.pop(0).arguments)
            done.append(_Done(message.tool, args, message.output, message.is_error))
    return done


def _calls(tool: str, *args: Arguments) -> tuple[_Wanted, ...]:
    return tuple((tool, one) for one in args)


def _pair(match: re.Match[str]) -> Arguments:
    """An order and an amount as a person wrote them; the tool checks them."""
    amount = match["amount"].rstrip(".,;:!?)")
    plain = re.fullmatch(r"(-?)\$?(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)", amount)
    if plain is not None:
        amount = plain[1] + plain[2].replace(",", "") + plain[3]
    # Any other word goes to the tool as it is, and the tool says what is wrong with it.
    return {"order": match["order"], "amount": amount}


def _usd(amount: object) -> str:
    try:
        return f"${Decimal(str(amount)):,.2f}".replace("$-", "-$")
    except (InvalidOperation, ValueError):
        return str(amount)


def _after(text: str, marker: str) -> str | None:
    _, found, rest = text.partition(marker)
    return rest if found else None
