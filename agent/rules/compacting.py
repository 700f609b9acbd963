"""Whether a conversation is more than its model is to be told at once, and what is told in short then.

Old results first, in one step for many turns to come, so that what a provider keeps of a request's beginning holds
from one to the next. Where that is not enough, the model sums up the oldest turns. What is too long by itself, a
file or the newest result, is cut to what there is room for. What people said and the newest turns are left as they
are; a call is never parted from its result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent.rules.cutting import LEAST
from agent.rules.parts import Cut
from agent.rules.replacing import replace
from agent.rules.sizes import tokens_of_messages
from agent.rules.state import RunState
from agent.rules.summing_up import longest_summary, summary_of
from agent.rules.transcript import transcript

#: In tokens: with less no model works, instructions and tools included.
LEAST_CONTEXT = 1_000
#: Of an old result, in characters: enough to know what it was.
OLD_RESULT = 600
#: So many of the newest replies keep their results.
NEWEST = 3
#: How far below the budget it is brought: else the next turn would be over it again.
_TARGET = 0.7
#: A summary that is to be written anew soon pays for itself only where it takes away so much of the budget.
_WORTH_IT = 0.15
#: A request was too long: the next is to be as much as was taken before, or, where that was much less or nothing, so
#: much of what was too long.
_OF_TOO_LONG = 0.25
#: How far what a provider reports may be from what was thought.
_LEAST_FACTOR, _MOST_FACTOR = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class Shorten:
    """More would be told than is to be: ``cut`` some of it, have its first ``summing`` replies summed up, or both."""

    cut: Cut | None = None
    summing: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """How much a model is to be told at once. ``tokens`` by its provider's count, None: as much as it takes;
    ``fixed`` says how large the instructions and tools are thought to be."""

    tokens: int | None = None
    fixed: Callable[[], int] = lambda: 0

    def room(self, state: RunState) -> int | None:
        """In tokens as they are estimated here, by what the provider reported for an earlier request of the run."""
        limits = []
        if self.tokens is not None:
            factor = 1.0
            if state.measured is not None and min(state.measured) > 0:
                estimated, reported = state.measured
                factor = min(max(estimated / reported, _LEAST_FACTOR), _MOST_FACTOR)
            limits.append(int(self.tokens * factor))
        if state.too_long is not None:
            least = int(state.too_long * _OF_TOO_LONG)
            limits.append(state.taken if least <= state.taken < state.too_long else least)
        return max(1, min(limits)) if limits else None

    def shorter(self, state: RunState) -> Shorten | None:
        """What to do before the model is told what ``state`` says; None: it may be told, or no more can be done."""
        room = self.room(state)
        if room is None:
            return None
        sizes = _Sizes(self.fixed(), room)
        return _shorter(state, sizes) if sizes.of(state) > room else None


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How large a request is, in tokens, and is to be."""

    fixed: int
    room: int

    @property
    def target(self) -> int:
        return int(self.room * _TARGET)

    def of(self, state: RunState) -> int:
        return self.fixed + tokens_of_messages(transcript(state))

    def summed_up(self, state: RunState, replies: int) -> int:
        """With a summary of so many replies."""
        summary = summary_of(state, replies, "", self.room)
        after = replace(state, summary=summary, summarised=replies)
        return self.of(after) + longest_summary(self.room)


def _shorter(state: RunState, sizes: _Sizes) -> Shorten | None:
    """The first that helps: what is too big by itself, in so many characters as there is room for tokens; old
    results; the oldest turns; and whatever is still long."""
    size, choices = sizes.of(state), may_be_summed_up(state)
    most = choices[-1] if choices else None
    too_big = Cut(turns=len(state.replies) + 1, limit=max(sizes.room, LEAST), with_files=True)
    if sizes.of(_cut(state, too_big)) < size:
        return Shorten(too_big)
    old = Cut(turns=max(0, len(state.replies) - NEWEST), limit=OLD_RESULT)
    with_old = _cut(state, old)
    less = sizes.of(with_old)
    cut = old if less < size else None
    if cut and less <= sizes.target:
        return Shorten(_fewest_turns(state, cut, sizes))
    if most is not None and sizes.summed_up(with_old, most) <= sizes.target:
        summing = _fewest(with_old, choices, sizes)
        return Shorten(cut if summing < old.turns else None, summing)
    if cut:
        return Shorten(cut)
    if closer := _closer(state, most, sizes):
        return Shorten(closer)
    if most is None:
        return None
    least = sizes.summed_up(state, most)
    is_worth_it = least <= sizes.room or size - least >= sizes.room * _WORTH_IT
    return Shorten(None, most) if is_worth_it else None


def may_be_summed_up(state: RunState) -> range:
    """How many of the run's replies a new summary can stand for: all but the newest, and more than the one before
    does. None of them, where it is for earlier runs alone."""
    has_new_past = state.summary is None and state.past is not None and bool(state.past.turns)
    return range(state.summarised + (not has_new_past), max(len(state.replies), 1))


def may_be_shortened(state: RunState, cut: Cut | None, summing: int | None) -> bool:
    """Could that have been wanted, however much was to be told?"""
    is_cut = (
        cut is not None
        and 0 <= cut.turns <= len(state.replies) + 1
        and cut.limit >= LEAST
        and not any(_is_as_short(one, cut) for one in state.cuts)
    )
    is_summed_up = summing is None or summing in may_be_summed_up(state)
    return (is_cut or summing is not None) and (cut is None or is_cut) and is_summed_up


def _is_as_short(one: Cut, other: Cut) -> bool:
    is_of_as_much = one.turns >= other.turns and (one.with_files or not other.with_files)
    return is_of_as_much and one.limit <= other.limit


def _cut(state: RunState, cut: Cut) -> RunState:
    return replace(state, cuts=(*state.cuts, cut))


def _fewest(state: RunState, choices: range, sizes: _Sizes) -> int:
    """So few that there is room for as much again; or all."""
    enough = int(sizes.target * _TARGET)
    number = bisect_left(choices, -enough, key=lambda replies: -sizes.summed_up(state, replies))
    return choices[min(number, len(choices) - 1)]


def _fewest_turns(state: RunState, cut: Cut, sizes: _Sizes) -> Cut:
    """The same for so few turns that there is as much room as there is to be."""
    choices = [cut.model_copy(update={"turns": turns}) for turns in range(cut.turns + 1)]
    number = bisect_left(choices, -sizes.target, key=lambda one: -sizes.of(_cut(state, one)))
    return choices[min(number, cut.turns)]


def _closer(state: RunState, most: int | None, sizes: _Sizes) -> Cut | None:
    """To what everything is cut that is too long by itself, also the newest: to as much as there is room for, with
    some to spare. Where none can be spared, only if there is no room as it is."""
    turns, size = len(state.replies) + 1, sizes.of(state)
    fits = most is not None and sizes.summed_up(state, most) <= sizes.room
    shorter: list[tuple[int, Cut]] = []
    for limit in _limits(sizes.room):
        cut = Cut(turns=turns, limit=limit, with_files=True)
        after = _cut(state, cut)
        less = sizes.of(after)
        if less < size:
            if most is not None:
                less = min(less, sizes.summed_up(after, most))
            shorter.append((less, cut))
        if less <= sizes.target:
            break
    fitting = [cut for less, cut in shorter if less <= sizes.target]
    if not fits:
        fitting += [cut for less, cut in shorter if less <= sizes.room]
        fitting += [cut for _, cut in reversed(shorter)]
    return fitting[0] if fitting else None


def _limits(room: int) -> Iterator[int]:
    """In characters, from more than there is room for to next to nothing."""
    limit = room * 4
    while limit > LEAST:
        yield limit
        limit = limit * 2 // 3
    yield LEAST
