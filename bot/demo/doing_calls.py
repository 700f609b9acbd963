"""The calls that people wrote out to the demo's model: which are to be made next, and what became of them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.ports import ToolSpec
from agent.rules.parts import ProposedCall
from agent.rules.state import AS_GUIDANCE, EARLY
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from bot.demo.given import short
from bot.demo.phrases import is_forgetting, is_yes
from bot.demo.tasks import Done
from bot.demo.written_calls import Arguments, Written, calls_in, changes_in

#: How the ids of such calls begin; those of the shop's phrases begin otherwise.
WRITTEN = "written_"
_SHOWN, _NAME = 1_500, 200
#: How what is told of a call begins where it was not made, or nobody knows.
_NOT_DONE = ("Denied by ", "It was not executed", "It was started before", "Nobody ")
_DRY = "it would have been made. This is a dry run: nothing was done."
_NOT_MADE = "it was not made: what was to go before it was not done."
_FORGOTTEN = "it was not made, as I was told."


@dataclass(frozen=True, slots=True)
class Doing:
    """One call, and how far it is."""

    written: Written
    #: The message that it stands in.
    message: int
    #: What became of it, for people; None: it is to be made.
    became: str | None = None
    went_well: bool = False

    @property
    def is_open(self) -> bool:
        return self.became is None

    @property
    def name(self) -> str:
        """As it was written, in short."""
        return " ".join((self.written.tool, *map(_in_words, self.written.args.values())))[:_NAME]

    def makes(self, call: ProposedCall) -> bool:
        args = json.loads(call.arguments)
        return self.is_open and (call.tool, args) == (self.written.tool, self.written.args)


@dataclass(frozen=True, slots=True)
class Doings:
    """All of a conversation, and the messages that are about something else."""

    all: tuple[Doing, ...] = ()
    others: tuple[Message, ...] = ()

    @property
    def wanted(self) -> tuple[tuple[str, Arguments], ...]:
        """The calls to make next, at once."""
        opened = [one for one in self.all if one.is_open]
        after = next((n for n, one in enumerate(opened) if n and one.written.is_then), len(opened))
        return tuple((one.written.tool, one.written.args) for one in opened[:after])

    def outcome(self) -> Iterator[str]:
        """What became of them, a line each."""
        yield from (f"{one.name}: {one.became}" for one in self.all if not one.is_open)


def doings_in(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Doings:
    """From the beginning, so that each result belongs to what it was made for."""
    by_name = {tool.name: tool for tool in tools}
    doings = Doings()
    proposed: dict[str, int] = {}
    for number, message in enumerate(messages):
        match message:
            case UserMessage(is_data=False, is_note=False):
                doings = _hear(doings, message, number, tools)
            case AssistantMessage() if _is_ours(message):
                proposed = _proposed(doings.all, message.calls)
            case ToolMessage() if message.model_call_id.startswith(WRITTEN):
                at = proposed.get(message.model_call_id)
                if at is not None:
                    made = _became(doings.all[at], message, by_name)
                    doings = replace(doings, all=(*doings.all[:at], *made, *doings.all[at + 1 :]))
                    proposed = {i: n + len(made) - 1 if n > at else n for i, n in proposed.items()}
            case _:
                doings = replace(doings, others=(*doings.others, message))
    return replace(doings, all=_without_what_can_not_follow(doings.all))


def _is_ours(message: AssistantMessage) -> bool:
    return any(call.model_call_id.startswith(WRITTEN) for call in message.calls)


def _proposed(all_: Sequence[Doing], calls: Sequence[ProposedCall]) -> dict[str, int]:
    """Which of them each call was made for."""
    found: dict[str, int] = {}
    for call in calls:
        for at, one in enumerate(all_):
            if at not in found.values() and one.makes(call):
                found[call.model_call_id] = at
                break
    return found


def _hear(doings: Doings, message: UserMessage, number: int, tools: Sequence[ToolSpec]) -> Doings:
    words = message.text.removeprefix(EARLY).lstrip()
    if words == AS_GUIDANCE:
        return doings
    if calls := calls_in(words, tools):
        new = tuple(Doing(written, number) for written in calls)
        return replace(doings, all=(*doings.all, *new))
    if is_forgetting(words) and any(one.is_open for one in doings.all):
        all_ = tuple(replace(one, became=_FORGOTTEN) if one.is_open else one for one in doings.all)
        return replace(doings, all=all_)
    return replace(doings, others=(*doings.others, message))


def _became(one: Doing, result: ToolMessage, tools: Mapping[str, ToolSpec]) -> tuple[Doing, ...]:
    """It with its result, and what is to be made in its place."""
    done = Done(one.written.tool, dict(one.written.args), result.output, result.is_error)
    if done.is_dropped:
        return (one,)
    guidance = done.guidance
    if done.is_dry:
        # What follows it is judged as well.
        return (replace(one, became=_DRY, went_well=True),)
    if guidance is None:
        went_well = not result.is_error and not result.output.startswith(_NOT_DONE)
        return (replace(one, became=_in_short(result.output), went_well=went_well),)
    if calls := calls_in(guidance, tuple(tools.values())):
        others = (Doing(written, one.message) for written in calls)
        told = f"it was not made. I was told: {short(guidance, _SHOWN)}"
        # What follows it waits for what takes its place.
        return (replace(one, became=told, went_well=True), *others)
    if (
        changes := changes_in(guidance, tools[one.written.tool])
        if one.written.tool in tools
        else {}
    ):
        args = {**one.written.args, **changes}
        return (replace(one, written=replace(one.written, args=args)),)
    if is_yes(guidance):
        return (one,)  # Guidance is no approval: it is asked once more.
    told = f"it was not made. I was told: {short(guidance, _SHOWN)}"
    return (replace(one, became=f"{told} (I understand a call, or name=value.)"),)


def _without_what_can_not_follow(all_: Sequence[Doing]) -> tuple[Doing, ...]:
    """Of what was to be made only ``then``: not what comes behind what did not go well."""
    kept: list[Doing] = []
    failed: set[int] = set()
    for one in all_:
        is_in_vain = one.is_open and one.written.is_then and one.message in failed
        kept.append(replace(one, became=_NOT_MADE) if is_in_vain else one)
        if not kept[-1].is_open and not kept[-1].went_well:
            failed.add(one.message)
    return tuple(kept)


def _in_short(output: str) -> str:
    """What a tool said, on lines that people can read."""
    *before, last = output.splitlines() or [""]
    try:
        said = json.loads(last)
    except ValueError:
        said = last
    if isinstance(said, dict) and said:
        last = ", ".join(f"{name}: {_in_words(value)}" for name, value in said.items())
    text = "\n".join((*before, last)) or "done"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def _in_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
