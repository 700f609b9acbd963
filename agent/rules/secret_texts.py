"""Which texts look like secrets, and could be nothing more.

A mask hides also from whoever decides. So no mask stands in the place of what could be a command, and under a name that
the tool does not know a text has to look like a secret: the less the name says, the more.
"""

from __future__ import annotations

import re

from agent.rules.secret_names import is_clear, is_of_password, is_of_phrase

MASK = "••••••••"

#: Also as JSON writes it.
_COMMAND = re.compile(r"\$[({]|\$IFS|[`;|&<>]|[^\S ]|(?<!\\)(?:\\\\)*\\[nrtu]")
#: What is made has often such signs, too: one word with letters of both kinds and digits …
_WITH_SIGNS = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[^\s`$\\(){}%*?'\"]+")
_SIGNS = re.compile(r"[;|&<>]+")
#: … and nothing between the signs that a shell could have a program for.
_PROGRAM = re.compile(r".*/.*|[A-Za-z]?[a-z]+[0-9]*|[A-Z]{2,}[0-9]*|[a-z][a-z0-9._+-]+")
#: A secret may be several words, as long as they are nothing but words, and the first tells nobody to do anything.
_WORD = re.compile(r"\w+")
_ORDER = re.compile(
    r"(?:alter|bash|create|curl|delete|docker|drop|exec|git|grant|insert|kill|kubectl|mv|reboot|revoke"
    r"|rm|select|sh|shutdown|stop|sudo|systemctl|truncate|update)",
    re.IGNORECASE,
)
#: What has more words is a sentence, and so is what has such as these, or an amount.
_WORDS, _WORDS_OF_PHRASE = 4, 6
_OF_SENTENCES = re.compile(
    r"(?:a|all|an|and|any|as|at|by|each|every|for|from|in|into|is|it|my|no|not|now|of|off|on|or|our|out|the|this|to"
    r"|with|your|[0-9]+)",
    re.IGNORECASE,
)
#: As secrets are made: one word of some length that is neither one of a language, nor a number, nor an address.
_MADE = re.compile(r"(?=.*[A-Za-z])(?=.*[^A-Za-z])(?!.*://)(?![^@]*@[\w-]+\.\w)\S{6,}")
_PIECES = re.compile(r"[^A-Za-z0-9]+")
#: As people name and number things: ``prod``, ``USD500``, ``1a``.
_PLAIN = re.compile(r"[A-Za-z]*[0-9]*|[0-9]+[A-Za-z]")
#: What precedes a secret in a header.
_SCHEME = re.compile(r"(?P<keep>(?:bearer|basic|token|digest)\s+)(?P<secret>\S+)", re.IGNORECASE)


def mask_of(size: int) -> str:
    """In place of so many characters."""
    return f"{MASK}({size:,} character{'' if size == 1 else 's'})"


def may_hide_a_command(text: str) -> bool:
    """Could more happen by it than that a secret is used? Then no mask may stand in its place: who
    decides has to see it."""
    if _COMMAND.search(text):
        return not is_made_with_signs(text)
    words = _words(text)
    if len(words) < 2:
        return False
    return _ORDER.fullmatch(words[0]) is not None or not all(map(_WORD.fullmatch, words))


def is_made_with_signs(text: str) -> bool:
    """Is it one word that no shell has a use for, whatever its signs mean to one?"""
    parts = _SIGNS.split(text)
    return _WITH_SIGNS.fullmatch(text) is not None and not any(map(_PROGRAM.fullmatch, parts))


def is_made(text: str) -> bool:
    """Does it look like a secret?"""
    return _MADE.fullmatch(text) is not None


def is_surely_made(text: str) -> bool:
    """Does it look like nothing else? No piece of it is then a word, a number, or a word and its number."""
    return is_made(text) and any(not _PLAIN.fullmatch(one) for one in _PIECES.split(text))


def is_sentence(name: str, text: str) -> bool:
    """Has it more, or other, words than a secret of this name?"""
    words = _words(text)
    if len(words) > (_WORDS_OF_PHRASE if is_of_phrase(name) else _WORDS):
        return True
    return len(words) > 1 and any(map(_OF_SENTENCES.fullmatch, words))


def looks_like(name: str, text: str) -> bool:
    """Does it look like the secret that this name, which the tool does not know, says it is?"""
    found = _SCHEME.fullmatch(text)
    if not is_clear(name):
        return is_surely_made(found["secret"] if found else text)
    if is_of_password(name):
        return not is_sentence(name, text)
    return found is not None or is_made(text)


def hidden(text: str) -> str:
    """A mask in its place, unless it could be more than a secret."""
    found = _SCHEME.fullmatch(text)
    keep, secret = (found["keep"], found["secret"]) if found else ("", text)
    return text if not secret or may_hide_a_command(secret) else keep + mask_of(len(secret))


def _words(text: str) -> list[str]:
    return text.strip("\\'\" ").split()
