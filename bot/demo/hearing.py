"""What the demo's model makes of a conversation: what it was asked to do, message by message. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.rules.parts import ProposedCall
from agent.rules.state import AS_GUIDANCE, EARLY
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from bot.demo import phrases
from bot.demo.given import short
from bot.demo.tasks import Arguments, Done, Task, next_step

# The whole word: half of "1e9" or "180k" would be another amount than was meant.
_PAIR = r"(?P<order>[^\s,]+)[,\s]+(?P<amount>-?\$?\d\S*)"
_REFUND = re.compile(rf"\brefund\s+{_PAIR}", re.IGNORECASE)
_REFUND_HOW_MUCH = re.compile(r"\brefund\s+(?P<order>ORD-\d+)\s*[.!?]*\s*$", re.IGNORECASE)
_AND = re.compile(rf"\band\s+(?:refund\s+)?{_PAIR}", re.IGNORECASE)
_VOUCHER = re.compile(rf"\bvoucher\s+{_PAIR}(?:\s+(?P<line>shaky|steady))?", re.IGNORECASE)
_OR_VOUCHER = re.compile(r"\bor\s+(?:a\s+)?voucher\b", re.IGNORECASE)
_CHECK = re.compile(
    rf"\bcheck\s+(?:(?:also|only|on|the|orders?)\s+)*({phrases.ORDERS})", re.IGNORECASE
)
#: Of one message; each may look at all of it.
_TASKS_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Heard:
    """All that was said and done so far."""

    #: The agent's: what it lacks is not understood.
    tools: frozenset[str]
    tasks: tuple[Task, ...] = ()
    #: Files, and what others said before.
    given: tuple[str, ...] = ()
    wants_summary: bool = False
    #: To what wanted nothing done.
    friendly: str | None = None
    #: What it has to say of words that changed nothing.
    remarks: tuple[str, ...] = ()


def listen(messages: Sequence[Message], tools: frozenset[str]) -> Heard:
    """From the beginning, so that each call belongs to what it was made for."""
    heard = Heard(tools)
    calls: list[ProposedCall] = []
    owner: int | None = None
    for message in messages:
        match message:
            case UserMessage(is_data=True):
                heard = replace(heard, given=(*heard.given, message.text))
            case UserMessage():
                words = message.text.removeprefix(EARLY).lstrip()
                heard = _hear(heard, words, is_early=words != message.text.lstrip())
            case AssistantMessage():
                # The results of a reply follow it in the order of its calls.
                calls = list(message.calls)
                owner = _owner(heard.tasks, calls)
            case ToolMessage() if calls:
                args = json.loads(calls.pop(0).arguments)
                done = Done(message.tool, args, message.output, message.is_error)
                heard = _with_done(heard, owner, done)
            case _:
                pass  # A result of no call says nothing.
    return heard


def _owner(tasks: Sequence[Task], calls: Sequence[ProposedCall]) -> int | None:
    """What these calls were made for: the first that wanted such."""
    tools = {call.tool for call in calls}
    for number, task in enumerate(tasks):
        if tools & {tool for tool, _ in next_step(task)[1]}:
            return number
    return len(tasks) - 1 if tasks else None


def _with_done(heard: Heard, owner: int | None, done: Done) -> Heard:
    if owner is None:
        return heard
    tasks = list(heard.tasks)
    tasks[owner] = tasks[owner].having_done(done)
    return replace(heard, tasks=tuple(tasks))


def _hear(heard: Heard, words: str, *, is_early: bool = False) -> Heard:
    if words == AS_GUIDANCE:
        return heard
    if is_early and any(task.is_decided for task in heard.tasks) and phrases.amount_in(words):
        return _with_remark(heard, f"“{short(words)}” was said before I was told what to do.")
    for understand in (_new_tasks, _summary, _other_orders, _forgotten, _amended, _small_talk):
        news = understand(heard, words)
        if news is not None:
            return news
    return _unclear(heard, words)


def _new_tasks(heard: Heard, words: str) -> Heard | None:
    """Done beside what was asked before; in its place only where somebody says so."""
    asked = tuple(task.as_far_as(heard.tools) for task in _tasks_in(words, heard.tools))
    if not asked:
        return None
    at = _at_work(heard.tasks)
    if at is not None and {"check"} == {task.kind for task in (heard.tasks[at], *asked)}:
        return _other_orders(heard, words)
    before = _without_the_rest(heard.tasks) if phrases.is_instead(words) else heard.tasks
    out = phrases.left_out_in(words)
    return replace(heard, tasks=(*before, *(task.without(*out) for task in asked)))


def _summary(heard: Heard, words: str) -> Heard | None:
    return replace(heard, wants_summary=True) if phrases.is_summary(words) else None


def _other_orders(heard: Heard, words: str) -> Heard | None:
    """Of what is at work: more orders to check, orders that are not wanted any more, or only these."""
    at = _at_work(heard.tasks)
    out = phrases.left_out_in(words)
    named = tuple(order for order in phrases.orders_in(words) if order not in out)
    if at is None or phrases.amount_in(words):
        return None
    task = heard.tasks[at]
    if named and phrases.is_instead(words):
        out = tuple(args["order"] for args in task.untried if args["order"] not in named)
    changed = task.without(*out)
    if task.kind == "check":
        changed = changed.with_more(*named)
    return _put(heard, at, changed) if changed != task else None


def _forgotten(heard: Heard, words: str) -> Heard | None:
    if not phrases.is_forgetting(words):
        return None
    if _at_work(heard.tasks) is None:
        return replace(heard, friendly="All right: there is nothing left that I was to do.")
    return replace(heard, tasks=_without_the_rest(heard.tasks))


def _amended(heard: Heard, words: str) -> Heard | None:
    """The last refund: another amount, or another way where it is denied."""
    at = next(
        (n for n in reversed(range(len(heard.tasks))) if heard.tasks[n].kind == "refund"), None
    )
    if at is None:
        return None
    task = heard.tasks[at]
    if (changed := task.told_amount(words)) is not None:
        return _put(heard, at, changed)
    if _OR_VOUCHER.search(words) and "send_voucher" in heard.tools:
        return _put(heard, at, replace(task, or_voucher=True))
    if task.is_finished and task.tried and phrases.amount_in(words):
        return _with_remark(heard, f"“{short(words)}” came too late: I had done my part by then.")
    return None


def _small_talk(heard: Heard, words: str) -> Heard | None:
    reply = phrases.friendly_reply(words)
    return replace(heard, friendly=reply) if reply else None


def _unclear(heard: Heard, words: str) -> Heard:
    return _with_remark(
        heard, f"I did not understand “{short(words)}”, and changed nothing for it."
    )


def _at_work(tasks: Sequence[Task]) -> int | None:
    return next((number for number, task in enumerate(tasks) if not task.is_finished), None)


def _without_the_rest(tasks: Sequence[Task]) -> tuple[Task, ...]:
    return tuple(task.without_the_rest() for task in tasks)


def _put(heard: Heard, at: int, task: Task) -> Heard:
    return replace(heard, tasks=(*heard.tasks[:at], task, *heard.tasks[at + 1 :]))


def _with_remark(heard: Heard, remark: str) -> Heard:
    return replace(heard, remarks=(*heard.remarks, remark))


def _tasks_in(words: str, tools: frozenset[str]) -> tuple[Task, ...]:
    """In the order in which they are named."""
    kinds = [(pattern, read) for needed, pattern, read in _KINDS if needed <= tools]
    found = [(match, read) for pattern, read in kinds for match in pattern.finditer(words)]
    tasks: list[Task] = []
    covered = 0
    for match, read in sorted(found, key=lambda one: one[0].start()):
        is_new = match.start() >= covered and not phrases.is_negated(words, match.start())
        if is_new and len(tasks) < _TASKS_LIMIT:
            covered, task = read(words, match)
            tasks.append(task)
    return tuple(tasks)


def _refund(words: str, match: re.Match[str]) -> tuple[int, Task]:
    pairs = (match, *_AND.finditer(words, match.end()))
    asked = tuple(map(_pair, pairs))
    return pairs[-1].end(), Task("refund", asked, _OR_VOUCHER.search(words) is not None)


def _refund_how_much(words: str, match: re.Match[str]) -> tuple[int, Task]:
    return match.end(), Task("refund", ({"order": match["order"].upper()},))


def _voucher(words: str, match: re.Match[str]) -> tuple[int, Task]:
    line = (match["line"] or "steady").lower()
    return match.end(), Task("voucher", ({**_pair(match), "line": line},))


def _check(words: str, match: re.Match[str]) -> tuple[int, Task]:
    return match.end(), Task("check", tuple({"order": o} for o in phrases.orders_in(match[1])))


#: With the tools that each takes.
_KINDS: tuple[
    tuple[frozenset[str], re.Pattern[str], Callable[[str, re.Match[str]], tuple[int, Task]]],
    ...,
] = (
    (frozenset({"process_refund"}), _REFUND, _refund),
    (frozenset({"process_refund", "ask_user"}), _REFUND_HOW_MUCH, _refund_how_much),
    (frozenset({"send_voucher"}), _VOUCHER, _voucher),
    (frozenset({"check_order"}), _CHECK, _check),
)


def _pair(match: re.Match[str]) -> Arguments:
    """An order and an amount as a person wrote them; the tool checks them."""
    amount = match["amount"].rstrip(".,;:!?)")
    plain = re.fullmatch(r"(-?)\$?(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)", amount)
    if plain is not None:
        amount = plain[1] + plain[2].replace(",", "") + plain[3]
    # Any other word goes to the tool as it is, and the tool says what is wrong with it.
    return {"order": match["order"], "amount": amount}
