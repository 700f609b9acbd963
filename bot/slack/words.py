"""What the words after ``/agent``, or in a message, ask for. Pure.

After ``/agent`` a first word that is a sub-command's is that sub-command, and counts only when what follows is what it
takes: with anything else it does nothing, and no run begins with it. In a message, "stop the newsletter" is something
to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from agent.rules.ids import ApprovalId, RunId
from bot.slack.cards.like_a_decision import is_like_a_typed_decision
from bot.slack.ids import APPROVAL_ID, RUN_ID
from bot.slack.interruptions import (
    Interruption,
    near_word,
    without_beside,
    without_names,
    word_alone,
)
from bot.slack.messages import Message
from bot.slack.typed import unescape

#: How alike a word must be to one of them to be taken for a slip: ``statu``, ``pendign``.
_ALIKE: Final = 0.8
_DECIDES: Final = re.compile(r"(approve|deny)(?:\s.*)?", re.DOTALL | re.IGNORECASE)
#: The bot's mention, one of two words and the whole id; only a denial may be followed by words.
#: Plain spaces, and the one that Slack puts behind a mention.
_TYPED: Final = r"[ \u00a0]*<@{bot}(?:\|[^>]*)?>[ \u00a0]+(?:approve[ \u00a0]+({id})|deny[ \u00a0]+({id})(?:\s+(\S.*?))?)\s*"


@dataclass(frozen=True, slots=True)
class Help:
    """How does one use this?"""


@dataclass(frozen=True, slots=True)
class ShowPending:
    """What waits for me?"""


@dataclass(frozen=True, slots=True)
class ShowRuns:
    """What became of my runs?"""


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """How is this run doing? Without an id: my newest."""

    run_id: RunId | None


@dataclass(frozen=True, slots=True)
class ShowJournal:
    """What happened in this run? Without an id: in my newest."""

    run_id: RunId | None


@dataclass(frozen=True, slots=True)
class ShowGrants:
    """What is allowed beforehand?"""


@dataclass(frozen=True, slots=True)
class Intervene:
    """Pause, resume or stop this run. Without an id: my newest that has not ended; in a message, the run of
    its thread."""

    how: Interruption
    run_id: RunId | None


@dataclass(frozen=True, slots=True)
class Retry:
    """In a message: have the failed run of its thread go on."""


@dataclass(frozen=True, slots=True)
class AskHowToDecide:
    """Words that look like a decision; here they are none."""


@dataclass(frozen=True, slots=True)
class TurnSwitch:
    """Turn a kill switch: of what, and why. Without a name: the only one that can be meant."""

    is_on: bool
    named: str
    reason: str


@dataclass(frozen=True, slots=True)
class AskHowToSwitch:
    """Words that turn no kill switch, and are meant to."""


@dataclass(frozen=True, slots=True)
class ShowSwitches:
    """Which kill switches are on?"""


@dataclass(frozen=True, slots=True)
class Misused:
    """A sub-command with what it does not take."""

    name: str
    #: As it was typed.
    text: str

    @property
    def takes_run(self) -> bool:
        return _SUB_COMMANDS[self.name].takes == _A_RUN


@dataclass(frozen=True, slots=True)
class Mistyped:
    """A single word that is nearly this sub-command, and nothing to do for an agent."""

    name: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Something for an agent to do."""

    prompt: str


Wish = (
    Help
    | ShowPending
    | ShowRuns
    | ShowStatus
    | ShowJournal
    | ShowGrants
    | Intervene
    | AskHowToDecide
    | TurnSwitch
    | ShowSwitches
    | AskHowToSwitch
    | Misused
    | Mistyped
    | Ask
)


@dataclass(frozen=True, slots=True)
class TypedDecision:
    """A decision written out in full. ``reason`` is a denial's."""

    approval_id: ApprovalId
    is_approval: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _SubCommand:
    """A pattern for all that may follow its name, and what it asks for then."""

    takes: str
    read: Callable[[str], Wish]


def _intervening(how: Interruption) -> Callable[[str], Wish]:
    return lambda rest: Intervene(how, _run_id(rest))


def _run_id(rest: str) -> RunId | None:
    return RunId(rest) if rest else None


def _switch(rest: str) -> TurnSwitch | ShowSwitches | AskHowToSwitch:
    """``on WHAT WHY``, ``off [WHAT] [WHY]``, ``status``; ``agent NAME`` and ``tool NAME`` are names in two words."""
    how, *more = rest.split(" ")
    match how.lower():
        case "" | "status":
            return AskHowToSwitch() if any(more) else ShowSwitches()
        case "on" | "off":
            kind = more[0].lower() if len(more) > 1 else ""
            if kind in ("agent", "tool"):
                more = [f"{kind}:{more[1]}", *more[2:]]
            named, reason = (more[0] if more else ""), " ".join(more[1:])
            return TurnSwitch(how.lower() == "on", named, reason)
        case _:
            return AskHowToSwitch()


_NOTHING: Final = ""
_A_RUN: Final = f"(?:{RUN_ID})?"
#: What is there by now; a slip is a slip of one of these names.
_SUB_COMMANDS: Final[Mapping[str, _SubCommand]] = {
    "help": _SubCommand(_NOTHING, lambda _: Help()),
    "pending": _SubCommand(_NOTHING, lambda _: ShowPending()),
    "runs": _SubCommand(_NOTHING, lambda _: ShowRuns()),
    "grants": _SubCommand(_NOTHING, lambda _: ShowGrants()),
    "status": _SubCommand(_A_RUN, lambda rest: ShowStatus(_run_id(rest))),
    "journal": _SubCommand(_A_RUN, lambda rest: ShowJournal(_run_id(rest))),
    # Whatever follows: nothing that begins so is something to do for an agent.
    "kill-switch": _SubCommand(r".*", lambda rest: _switch(rest)),
    "pause": _SubCommand(_A_RUN, _intervening("pause")),
    "resume": _SubCommand(_A_RUN, _intervening("resume")),
    "stop": _SubCommand(_A_RUN, _intervening("stop")),
}
#: An id that was cut or typed otherwise: nobody asks an agent for that.
_LIKE_A_RUN: Final = re.compile(r"run_", re.IGNORECASE)
#: What people write behind the first word of a sentence.
_SIGNS: Final = ",.:;!?…"


def read_command(text: str) -> Wish:
    """What ``/agent TEXT`` asks for."""
    text = text.strip()
    if not text:
        return Help()
    if (word := word_alone(text)) and word != "retry":
        return Intervene(word, None)
    if _DECIDES.fullmatch(text) or is_like_a_typed_decision(text):
        return AskHowToDecide()
    first, *more = text.split()
    name, rest = first.lower().rstrip(_SIGNS if more else ""), " ".join(more)
    if (named := _SUB_COMMANDS.get(name)) is not None:
        taken = next((one for one in (rest, without_beside(rest)) if _takes(named, one)), None)
        if taken is not None:
            return named.read(taken)
        if _LIKE_A_RUN.match(rest):
            return Misused(name, text)
    if meant := near_word(text) or _nearly(text):
        return Mistyped(meant)
    return Ask(text)


def _takes(named: _SubCommand, rest: str) -> bool:
    return re.fullmatch(named.takes, rest) is not None


def _nearly(text: str) -> str | None:
    """The sub-command that a single word was meant to be."""
    if len(text.split()) > 1:
        return None
    return next(iter(get_close_matches(text.lower(), _SUB_COMMANDS, 1, _ALIKE)), None)


def wish_of(message: Message, bot_user: str) -> Wish | Retry:
    """What a message asks for, its mention of us taken away."""
    text = message.text(bot_user)
    # Who else is named besides us is to read it, too.
    is_to_us = message.is_direct or message.mentions(bot_user)
    wish = read_message(text, without_names(text) if is_to_us else text)
    # A paper of that name, shared with the word.
    is_paper = bool(message.files) and isinstance(wish, Intervene) and wish.how == "resume"
    return Ask(text) if is_paper else wish


def read_message(text: str, said: str | None = None) -> Wish | Retry:
    """What ``text`` asks for; ``said`` is the same without names that say nothing."""
    text, word = text.strip(), word_alone(text if said is None else said)
    if text.lower() in ("", "help"):
        return Help()
    if word is not None:
        return Retry() if word == "retry" else Intervene(word, None)
    return AskHowToDecide() if is_like_a_typed_decision(text) else Ask(text)


def read_decision(raw: str, bot_user: str) -> TypedDecision | None:
    """The decision that a whole message is, as Slack has it; None for anything else."""
    match = re.fullmatch(_TYPED.format(bot=re.escape(bot_user), id=APPROVAL_ID), raw, re.DOTALL)
    if match is None:
        return None
    approved, denied, reason = match.groups()
    return TypedDecision(
        ApprovalId(approved or denied), approved is not None, reason and unescape(reason)
    )
