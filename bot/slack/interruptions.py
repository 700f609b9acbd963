"""``pause``, ``resume``, ``stop`` and ``retry``, however people say them. Pure.

What is only such a word is it: with formatting, signs and emoji around it, said several times, with politeness beside
it and plain pointers (``please stop it now!``). With anything else it is something to do ("stop the newsletter"). What
comes near one, or only quotes it, does nothing: whoever says it is told which word does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import groupby
from typing import Final, Literal

Interruption = Literal["pause", "resume", "stop"]
Alone = Interruption | Literal["retry"]

_WORDS: Final[Mapping[str, Alone]] = {
    "pause": "pause",
    "resume": "resume",
    "stop": "stop",
    "retry": "retry",
}
#: As Slack has it in a text: an emoji by its name, and what is struck out, which is taken back.
_SIGNS: Final = re.compile(r":[a-z0-9_+'-]+:|~[^~\n]+~")
_NAMES: Final = re.compile(r"<[@!][^>]*>")
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
#: Beside a word they say nothing more: politeness, and what points at the run that everybody has before them.
_BESIDE: Final = re.compile(
    r"\b(?:please|pls|plz|kindly|thanks|thank you|ok|okay|hey|just|right now|now|right away|immediately|at once|asap"
    r"|everything|(?:the|this|that|my|your) (?:run|agent|bot)|it|this|that|all of|all|here)\b"
)
_ASKED_OR_QUOTED: Final = re.compile(r"[?？؟“”\"]|^\s*(?:>|&gt;)|```", re.MULTILINE)
#: As Slack has it: each line of a quotation begins so, and all that stands behind three of them is one.
_QUOTED: Final = re.compile(r"^[ \t]*(?:>>>.*|>[^\n]*)", re.MULTILINE | re.DOTALL)
_A_PAPER: Final = re.compile(r"\b(?:this|that|my|your|the)\s+resume\b", re.IGNORECASE)
_A_MOMENT: Final = r"(?:(?:a|one|1) )?(?:moment|sec)|a (?:second|minute|min)"
_WAIT: Final = rf"(?:wait|hold(?: on| off| up)?|hang on)(?: (?:{_A_MOMENT}))?|{_A_MOMENT}"
_NEAR: Final[Mapping[Interruption, re.Pattern[str]]] = {
    "stop": re.compile(r"cancel|abort|halt"),
    "pause": re.compile(rf"(?:{_WAIT})(?: (?:{_WAIT}))*"),
    "resume": re.compile(r"unpause|continue|go on|carry on|proceed"),
}
_STOP_SIGNS: Final = re.compile(
    r"(?:🛑|:(?:octagonal_sign|stop_sign):|\s|\ufe0f)+|(?:⏹|:black_square_for_stop:|\s|\ufe0f)+"
)
#: What holds one of these, and few words besides, may be meant so.
_HINTS: Final[Mapping[str, Interruption]] = {
    **dict.fromkeys(("stop", "halt", "cancel", "abort"), "stop"),
    **dict.fromkeys(("pause", "wait", "hold"), "pause"),
    **dict.fromkeys(("resume", "unpause"), "resume"),
}
_FEW: Final = 5
_NEGATIONS: Final = frozenset({"don't", "dont", "not", "never", "can't", "cannot", "won't"})
#: How alike a word must be to one of them to be taken for a slip: ``stopp``, ``pasue``.
_ALIKE: Final = 0.8


def word_alone(text: str) -> Alone | None:
    """The word that ``text`` is, and nothing else. What it quotes is nobody's word."""
    word = _WORDS.get(" ".join(_core(without_quotations(text))))
    return word if word != "resume" or _lets_go_on(text) else None


def _lets_go_on(text: str) -> bool:
    """Can ``resume`` be taken for nothing else? It is a paper as well, and what is asked or quoted lets nothing go
    on: that a run waits a little longer costs less."""
    return not _ASKED_OR_QUOTED.search(text) and not _A_PAPER.search(text)


def near_word(text: str) -> Interruption | None:
    """The word that was meant by one that says nearly the same, and nothing else: ``cancel that``, ``hold on``,
    ``> stop``."""
    own = without_quotations(text)
    if not own and (quoted := _WORDS.get(" ".join(_core(text)))):
        return quoted if quoted != "retry" else None
    core = " ".join(_core(own))
    if not core and text.strip() and _STOP_SIGNS.fullmatch(text):
        return "stop"
    return next((word for word, near in _NEAR.items() if near.fullmatch(core)), None)


def without_quotations(text: str) -> str:
    """Only what whoever wrote it says themselves."""
    return _QUOTED.sub("", text).strip()


def without_names(text: str) -> str:
    """Without who is named in it, for what is said to us as well."""
    return _NAMES.sub(" ", text)


def hinted_word(text: str) -> Interruption | None:
    """The word that may be meant by few words with one like it among them: "stop by my desk", "can you stop?". It may
    be something to do as well."""
    if near := near_word(text):
        return near
    words = _words(text)
    if len(words) > _FEW or not _NEGATIONS.isdisjoint(words):
        return None
    hinted = {_HINTS[word] for word in words if word in _HINTS} or _slip(text)
    return next((word for word in ("stop", "pause", "resume") if word in hinted), None)


def _slip(text: str) -> set[Alone]:
    core = _core(text)
    alike = get_close_matches(core[0], _WORDS, 1, _ALIKE) if len(core) == 1 else []
    return {_WORDS[one] for one in alike}


def without_beside(words: str) -> str:
    """Without politeness and pointers: what is left says something."""
    return " ".join(_BESIDE.sub(" ", words).split())


def _core(text: str) -> list[str]:
    """Its words but for those that say nothing more, each once where it is repeated."""
    return [word for word, _ in groupby(without_beside(" ".join(_words(text))).split())]


def _words(text: str) -> list[str]:
    return _WORD.findall(_SIGNS.sub(" ", text.casefold().replace("’", "'")))
