"""What the words after ``/agent``, or after a mention, ask for. Pure.

A sub-command is an exact first word, or alone in whatever letters, and counts only when what follows is what
it takes: "stop the newsletter" is something to do, "stop" is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from agent.rules.ids import ApprovalId, RunId
from bot.slack.ids import APPROVAL_ID, RUN_ID
from bot.slack.typed import unescape

Interruption = Literal["pause", "resume", "stop"]
_INTERRUPTIONS: Final[Mapping[str, Interruption]] = {
    "pause": "pause",
    "resume": "resume",
    "stop": "stop",
}
#: How alike a word must be to one of them to be taken for a slip: ``statu``, ``pendign``.
_ALIKE: Final = 0.8
#: What holds one of these, and few words besides, may be meant to stop or pause something.
_STOPPING: Final = frozenset({"stop", "pause", "halt", "cancel", "abort", "wait", "hold"})
_STOPPING_IN: Final = 5
_DECIDES: Final = re.compile(r"(approve|deny)(?:\s.*)?", re.DOTALL | re.IGNORECASE)
#: The bot's mention, one of two words and the whole id; only a denial may be followed by words.
#: Plain spaces, and the one that Slack puts behind a mention.
_TYPED: Final = r"[ \u00a0]*<@{bot}(?:\|[^>]*)?>[ \u00a0]+(?:approve[ \u00a0]+({id})|deny[ \u00a0]+({id})(?:\s+(\S.*?))?)\s*"
_NEARLY: Final = re.compile(r"(?:approve|deny)(?:\s+apr_.*)?", re.DOTALL | re.IGNORECASE)


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
class NotYet:
    """A sub-command that this version does not have."""

    name: str


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
    | NotYet
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
    **{name: _SubCommand(_A_RUN, _intervening(how)) for name, how in _INTERRUPTIONS.items()},
}
#: What is to come.
_LATER: Final[Mapping[str, _SubCommand]] = {
    "kill-switch": _SubCommand(r"(?s:.*)", lambda _: NotYet("kill-switch")),
}


def read_command(text: str) -> Wish:
    """What ``/agent TEXT`` asks for."""
    text = text.strip()
    first, _, rest = text.partition(" ")
    rest = rest.strip()
    if not text:
        return Help()
    # Alone it can mean nothing else, however it is written; before other words it may be how a sentence begins.
    name = first if rest else first.lower()
    named = _SUB_COMMANDS.get(name) or _LATER.get(name)
    if named is not None and re.fullmatch(named.takes, rest):
        return named.read(rest)
    if _DECIDES.fullmatch(text):
        return AskHowToDecide()
    if meant := _nearly(text):
        return Mistyped(meant)
    return Ask(text)


def _nearly(text: str) -> str | None:
    """The sub-command that a single word was meant to be."""
    if len(text.split()) > 1:
        return None
    return next(iter(get_close_matches(text.lower(), _SUB_COMMANDS, 1, _ALIKE)), None)


def read_message(text: str) -> Wish | Retry:
    """What a message asks for, its mention taken away."""
    text = text.strip()
    if text.lower() in ("", "help"):
        return Help()
    word = text.rstrip(" .!").lower()
    if how := _INTERRUPTIONS.get(word):
        return Intervene(how, None)
    if word == "retry":
        return Retry()
    return AskHowToDecide() if _NEARLY.fullmatch(text) else Ask(text)


def is_like_a_stop(text: str) -> bool:
    """Is it short, and may whoever writes it want something stopped? ``please stop``, ``hold on``. It stops nothing:
    "stop the newsletter" is something to do."""
    words = re.findall(r"[^\W_]+", text.lower())
    return len(words) <= _STOPPING_IN and not _STOPPING.isdisjoint(words)


def read_decision(raw: str, bot_user: str) -> TypedDecision | None:
    """The decision that a whole message is, as Slack has it; None for anything else."""
    match = re.fullmatch(_TYPED.format(bot=re.escape(bot_user), id=APPROVAL_ID), raw, re.DOTALL)
    if match is None:
        return None
    approved, denied, reason = match.groups()
    return TypedDecision(
        ApprovalId(approved or denied), approved is not None, reason and unescape(reason)
    )
