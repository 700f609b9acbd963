"""What the words after ``/agent``, or after a mention, ask for. Pure.

A sub-command is an exact first word, and counts only when what follows is what it takes: "stop the
newsletter" is something to do, "stop" is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from agent.rules.ids import ApprovalId, RunId
from bot.slack.ids import APPROVAL_ID, RUN_ID
from bot.slack.typed import unescape

#: Sub-commands that are to come, and what they take.
_LATER: Final = {
    "journal": RUN_ID,
    "kill-switch": r"(?s:.*)",
}
Interruption = Literal["pause", "resume", "stop"]
_INTERRUPTIONS: Final[Mapping[str, Interruption]] = {
    "pause": "pause",
    "resume": "resume",
    "stop": "stop",
}
#: What is there by now.
_NAMES: Final = ("help", "pending", "runs", "status", *_INTERRUPTIONS)
#: How alike a word must be to one of them to be taken for a slip: ``statu``, ``pendign``.
_ALIKE: Final = 0.8
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
class ShowGrants:
    """What is allowed beforehand?"""


@dataclass(frozen=True, slots=True)
class Intervene:
    """Pause, resume or stop this run. Without an id: my newest that has not ended."""

    how: Interruption
    run_id: RunId | None


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


def read_command(text: str) -> Wish:
    """What ``/agent TEXT`` asks for."""
    text = text.strip()
    first, _, rest = text.partition(" ")
    rest = rest.strip()
    if not text or (first == "help" and not rest):
        return Help()
    if first == "pending" and not rest:
        return ShowPending()
    if first == "runs" and not rest:
        return ShowRuns()
    if first == "grants" and not rest:
        return ShowGrants()
    if first == "status" and (not rest or re.fullmatch(RUN_ID, rest)):
        return ShowStatus(RunId(rest) if rest else None)
    if (how := _INTERRUPTIONS.get(first)) and (not rest or re.fullmatch(RUN_ID, rest)):
        return Intervene(how, RunId(rest) if rest else None)
    if _DECIDES.fullmatch(text):
        return AskHowToDecide()
    if first in _LATER and re.fullmatch(_LATER[first], rest):
        return NotYet(first)
    if name := _nearly(text):
        return Mistyped(name)
    return Ask(text)


def _nearly(text: str) -> str | None:
    """The sub-command that a single word was meant to be; a name of one, however it is written, is none."""
    word = text.lower()
    if word in _NAMES or len(text.split()) > 1:
        return None
    return next(iter(get_close_matches(word, _NAMES, 1, _ALIKE)), None)


def read_message(text: str) -> Wish:
    """What a message asks for, its mention taken away."""
    text = text.strip()
    if text in ("", "help"):
        return Help()
    return AskHowToDecide() if _NEARLY.fullmatch(text) else Ask(text)


def read_decision(raw: str, bot_user: str) -> TypedDecision | None:
    """The decision that a whole message is, as Slack has it; None for anything else."""
    match = re.fullmatch(_TYPED.format(bot=re.escape(bot_user), id=APPROVAL_ID), raw, re.DOTALL)
    if match is None:
        return None
    approved, denied, reason = match.groups()
    return TypedDecision(
        ApprovalId(approved or denied), approved is not None, reason and unescape(reason)
    )
