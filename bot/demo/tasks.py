"""What the demo's model was asked to do, how far it is, and what became of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from bot.demo.given import short
from bot.demo.phrases import amount_in, is_nothing, is_yes

Arguments = dict[str, Any]
#: A tool and what it is called with.
Wanted = tuple[str, Arguments]
#: What it says, and the calls that it wants.
Step = tuple[str, tuple[Wanted, ...]]
Kind = Literal["refund", "voucher", "check"]

_TOOLS: dict[Kind, str] = {
    "refund": "process_refund",
    "voucher": "send_voucher",
    "check": "check_order",
}
_NAMES = {tool: kind for kind, tool in _TOOLS.items()}
#: An agent that has one of these is of the shop's.
SHOP_TOOLS = frozenset(_NAMES)
_LEFT = {"refund": "Not refunded", "voucher": "No voucher was sent for", "check": "Not checked"}
_AMOUNTS = ["$20", "$90", "$180"]
#: How often it asks the same before it gives up.
_QUESTIONS_LIMIT = 3
_NOTHING: Step = ("", ())


@dataclass(frozen=True, slots=True)
class Done:
    """A call of the conversation with its one result."""

    tool: str
    args: Arguments
    output: str
    is_error: bool

    @property
    def order(self) -> str:
        return str(self.args.get("order"))

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

    @property
    def answer(self) -> str:
        """What a person answered."""
        return _after(self.output, "answered: ") or self.output

    @property
    def is_denied(self) -> bool:
        return self.output.startswith("Denied")

    @property
    def is_dry(self) -> bool:
        """Was it judged and not carried out, as all of a dry run?"""
        return "This is a dry run: the call was judged, and not carried out." in self.output

    @property
    def is_dropped(self) -> bool:
        """Did a message come before it began? Then nobody said anything against it."""
        return self.output.startswith(
            "Not executed and not queued. A newer message arrived before it began"
        )


@dataclass(frozen=True, slots=True)
class Task:
    """One thing that people asked for. Each of ``asked`` are one call's arguments; a refund without an amount is
    asked about."""

    kind: Kind
    asked: tuple[Arguments, ...]
    #: Is a voucher wanted where a refund is denied?
    or_voucher: bool = False
    #: Before a refund.
    looks_up_policy: bool = True
    done: tuple[Done, ...] = ()
    #: The orders that are not wanted any more.
    left_out: tuple[str, ...] = ()
    #: Is nothing wanted any more beyond what was done?
    is_over: bool = False
    #: What people said since the last call, of a refund that is to be another.
    told: str | None = None

    def as_far_as(self, tools: frozenset[str]) -> Task:
        """Without what none of the agent's tools could do."""
        return replace(
            self,
            or_voucher=self.or_voucher and "send_voucher" in tools,
            looks_up_policy="search_policy" in tools,
        )

    @property
    def is_finished(self) -> bool:
        return not next_step(self)[1]

    @property
    def is_decided(self) -> bool:
        """Has somebody said since how much it is to be?"""
        return any(
            amount_in(one.guidance or "") or (one.tool == "ask_user" and amount_in(one.answer))
            for one in self.done
        )

    @property
    def tried(self) -> dict[str, Done]:
        """The last call of its own tool, by order."""
        return {one.order: one for one in self.done if one.tool == _TOOLS[self.kind]}

    @property
    def untried(self) -> tuple[Arguments, ...]:
        return tuple(args for args in self.asked if args["order"] not in self.tried)

    def having_done(self, done: Done) -> Task:
        if done.is_dropped:
            return self
        task = replace(self, done=(*self.done, done), told=None)
        if done.tool == "ask_user" and len(self.asked) == 1 and (amount := amount_in(done.answer)):
            # What was said meanwhile is not what was answered.
            task = replace(task, asked=({**self.asked[0], "amount": amount},))
        return task

    def with_more(self, *orders: str) -> Task:
        there = {args["order"] for args in self.asked}
        more = ({"order": order} for order in orders if order not in there)
        out = tuple(order for order in self.left_out if order not in orders)
        return replace(self, asked=(*self.asked, *more), left_out=out)

    def without(self, *orders: str) -> Task:
        """As far as they have not been tried."""
        out = tuple(args["order"] for args in self.untried if args["order"] in orders)
        asked = tuple(args for args in self.asked if args["order"] not in out)
        return replace(self, asked=asked, left_out=(*self.left_out, *out))

    def without_the_rest(self) -> Task:
        """What has been done stays done."""
        if self.is_finished:
            return self
        return replace(self.without(*(args["order"] for args in self.untried)), is_over=True)

    def told_amount(self, words: str) -> Task | None:
        """With the amount that ``words`` name for the one refund that is still to be made; None where there is
        none, or no amount."""
        if self.kind != "refund" or self.is_over:
            return None
        guided = [one for one in self.tried.values() if one.guidance is not None]
        if len(self.untried) == 1 and not self.tried:
            (args,) = self.untried
            amount = amount_in(words, of=args.get("amount"))
            return replace(self, asked=({**args, "amount": amount},)) if amount else None
        if len(guided) == 1 and amount_in(words, of=guided[0].args.get("amount")):
            return replace(self, told=words)
        return None


def next_step(task: Task) -> Step:
    """The calls that it takes next; none when all has been done that can be."""
    if task.is_over or not (task.asked or task.done):
        return _NOTHING
    if task.kind == "refund":
        return _refund(task)
    wanted = task.untried[:1]
    return "", tuple((_TOOLS[task.kind], args) for args in wanted)


def _refund(task: Task) -> Step:
    if task.tried:
        return _after_refunds(task)
    asked = task.untried
    if any("amount" not in args for args in asked):
        answers = _answers(task)
        if len(answers) == _QUESTIONS_LIMIT or any(map(is_nothing, answers)):
            return _NOTHING
        question = f"How much of {asked[0]['order']} is to be refunded?"
        if answers:
            question = f"I find no clear amount in “{short(answers[-1])}”. {question}"
        return "", (("ask_user", {"question": question, "options": _AMOUNTS}),)
    if asked and not task.done and task.looks_up_policy:
        return "I look up the refund policy first.", (("search_policy", {"topic": "refunds"}),)
    return "", tuple(("process_refund", args) for args in asked)


def _after_refunds(task: Task) -> Step:
    again = [
        (one.args | {"amount": amount}, one)
        for one in task.tried.values()
        if one.guidance is not None and (amount := _as_guided(task, one))
    ]
    if wanted := (*(args for args, _ in again), *task.untried):
        is_same = again and all(args == one.args for args, one in again)
        text = "Guidance is no approval, so I ask once more." if is_same else ""
        return text, tuple(("process_refund", args) for args in wanted)
    sent = {one.order for one in task.done if one.tool == "send_voucher"}
    denied = [one for one in task.tried.values() if one.is_denied and one.order not in sent]
    if task.or_voucher and denied:
        instead = tuple(("send_voucher", {**one.args, "amount": "20"}) for one in denied)
        return "Then a voucher.", instead
    return _NOTHING


def _as_guided(task: Task, done: Done) -> str | None:
    """How much it is to be by now. A yes asks for the same; only a decision can say yes to it."""
    before = str(done.args.get("amount"))
    for words in (task.told, done.guidance):
        if words and (amount := amount_in(words, of=before)):
            return amount
    return before if is_yes(done.guidance or "") else None


def _answers(task: Task) -> list[str]:
    return [one.answer for one in task.done if one.tool == "ask_user"]


def outcome(task: Task) -> Iterator[str]:
    """What became of it, a line each."""
    yield from (_say(one) for one in task.done if one.tool in _NAMES)
    if (answers := _answers(task)) and not task.tried and task.asked and task.is_finished:
        yield _not_refunded(answers[-1])
    if task.left_out:
        yield f"{_LEFT[task.kind]}, as I was told: {', '.join(task.left_out)}."


def _not_refunded(answer: str) -> str:
    if is_nothing(answer):
        return f"Nothing was refunded, as I was told: {answer}"
    clear = "clear " if any(map(str.isdigit, answer)) else ""
    return f"Nothing was refunded: I find no {clear}amount in the answer. I was told: {answer}"


def _say(done: Done) -> str:
    order, name = done.args.get("order"), _NAMES[done.tool]
    if done.fact is not None:
        # As it was done, where the tool says so: somebody may have changed the values.
        fact = {**done.args, **done.fact}
        match done.tool:
            case "process_refund":
                return f"Refund of {_usd(fact['amount'])} for {fact['order']} is complete."
            case "send_voucher":
                return f"A voucher of {_usd(fact['amount'])} for {fact['order']} is on its way."
            case _ if "state" in fact:
                return f"{fact['order']} is {fact['state']}."
    what = f"The {name} of {_usd(done.args['amount'])}" if "amount" in done.args else f"The {name}"
    if done.is_dry:
        return f"{what} for {order} would have been made. This is a dry run: nothing was done."
    if done.is_denied:
        reason = _after(done.output, "Reason: ")
        why = f" Reason: {reason}" if reason else ""
        return f"{what} for {order} was denied, and nothing was done.{why}"
    if done.guidance is not None:
        return f"{what} for {order} was not made. I was told: {done.guidance}"
    if problem := _after(done.output, "The arguments do not fit. "):
        return f"{what} for {order} can't be made. {problem}"
    return f"{what} for {order}: {done.output}"


def _usd(amount: object) -> str:
    try:
        return f"${Decimal(str(amount)):,.2f}".replace("$-", "-$")
    except (InvalidOperation, ValueError):
        return str(amount)


def _after(text: str, marker: str) -> str | None:
    _, found, rest = text.partition(marker)
    return rest if found else None
