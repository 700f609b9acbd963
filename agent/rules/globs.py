"""What globs match beside each other: all that another does, something that another does too.

Exact, for the globs of ``fnmatch`` with case: both are read as automata over all the characters between which they
make a difference. What would take too long is not found out, and is answered with no.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

#: Between one character and any number of them.
_ANY: Final = "*"
#: So many pairs of places in two globs are looked at; the globs of people need a handful.
_LIMIT: Final = 5_000
_LAST: Final = 0x10FFFF

_Places = frozenset[int]


class _TooMuch(Exception):
    """It would take too long to find out."""


@lru_cache(maxsize=4_096)
def covers(wide: str, narrow: str) -> bool:
    """Does ``wide`` certainly match whatever ``narrow`` does?"""
    ours, theirs = _parts(wide), _parts(narrow)
    letters = _letters((*ours, *theirs))
    try:
        return not any(
            len(theirs) in places and len(ours) not in others
            for places, others in _pairs(theirs, ours, letters)
        )
    except _TooMuch:
        return False


@lru_cache(maxsize=4_096)
def overlap(one: str, other: str) -> bool:
    """Is there certainly a text that both match?"""
    first, second = _parts(one), _parts(other)
    letters = _letters((*first, *second))
    try:
        return any(
            len(first) in places and len(second) in others
            for places, others in _pairs(first, second, letters)
        )
    except _TooMuch:
        return False


def _pairs(
    one: tuple[str, ...], other: tuple[str, ...], letters: frozenset[str]
) -> Iterator[tuple[_Places, _Places]]:
    """Where in both a text can have led to, for every text. Raises ``_TooMuch``."""
    begin = _settled(one, {0}), _settled(other, {0})
    seen, open_still = {begin}, [begin]
    while open_still:
        places, others = open_still.pop()
        yield places, others
        if len(seen) > _LIMIT:
            raise _TooMuch
        for letter in letters:
            # What ``one`` does not match any more is of no interest.
            if led := _after(one, places, letter):
                pair = led, _after(other, others, letter)
                if pair not in seen:
                    seen.add(pair)
                    open_still.append(pair)


def _after(parts: tuple[str, ...], places: _Places, letter: str) -> _Places:
    led = set()
    for place in places:
        if place == len(parts):
            continue
        if parts[place] == _ANY:
            led.add(place)
        elif fnmatchcase(letter, parts[place]):
            led.add(place + 1)
    return _settled(parts, led)


def _settled(parts: tuple[str, ...], places: Iterable[int]) -> _Places:
    """With all that is reached because a star may stand for nothing."""
    reached = set(places)
    for place in sorted(reached):
        while place < len(parts) and parts[place] == _ANY:
            place += 1
            reached.add(place)
    return frozenset(reached)


def _parts(glob: str) -> tuple[str, ...]:
    """Its stars, and what stands for one character each: globs themselves."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        end = _end_of_set(glob, at) if glob[at] == "[" else at + 1
        part = glob[at:end]
        if part == "[":
            part = "[[]"  # It opens nothing, and stands for itself.
        if not (part == _ANY and parts[-1:] == [_ANY]):
            parts.append(part)
        at = end
    return tuple(parts)


def _end_of_set(glob: str, at: int) -> int:
    """Behind the ``]`` that closes the set at ``at``; one behind the ``[`` where nothing does."""
    look = at + 1
    if glob[look : look + 1] == "!":
        look += 1
    # One that stands first is a member.
    close = glob.find("]", look + 1)
    return at + 1 if close < 0 else close + 1


def _letters(parts: tuple[str, ...]) -> frozenset[str]:
    """Characters of which at least one is of each kind that these parts tell apart: between two that stand in them
    all are alike."""
    named = {ord(letter) for part in parts if part != _ANY for letter in part}
    beside = {code + step for code in named for step in (-1, 1)} | {ord("x")}
    return frozenset(chr(code) for code in (*named, *beside) if 0 <= code <= _LAST)
