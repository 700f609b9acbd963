"""What Slack refuses until somebody does something about it: for how long each message, and each channel, is
let alone.

A thread is looked at again for many reasons, and often much sooner than what was refused is worth another try.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from agent.rules.ids import RunId
from bot.slack.thread.edge import SlackRefused

#: Nothing of any run is taken there: one that finds it out does so for all of them.
_OF_CHANNEL: Final = {"not_in_channel", "channel_not_found", "is_archived", "is_inactive"}
_FIRST: Final = 1.0
_LONGEST: Final = 300.0
#: Where people wait for it to be mended, and where one try tells of many threads.
_LONGEST_AWAITED: Final = 60.0
_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Slack said, how often on end, and when it is worth another try."""

    error: SlackRefused
    count: int
    not_before: float


@dataclass(frozen=True, slots=True)
class Target:
    """A message of a run, and the channel in which it is to stand."""

    run_id: RunId
    key: str
    channel: str

    @property
    def of_message(self) -> tuple[str, str]:
        return self.run_id, self.key

    @property
    def of_channel(self) -> tuple[str, str]:
        return "", self.channel


@dataclass
class Refusals:
    """As this process has met them. ``monotonic`` gives seconds."""

    monotonic: Callable[[], float]
    _known: dict[tuple[str, str], Refusal] = field(default_factory=dict)

    def met(self, target: Target, error: SlackRefused, *, is_awaited: bool) -> float:
        """Slack has refused it: the seconds for which it is let alone."""
        is_of_channel = error.code in _OF_CHANNEL
        longest = _LONGEST_AWAITED if is_awaited or is_of_channel else _LONGEST
        self._note(target.of_message, error, longest)
        if is_of_channel:
            self._note(target.of_channel, error, longest)
        return self.left(target)[1]

    def left(self, target: Target) -> tuple[SlackRefused | None, float]:
        """Why it is let alone, and for how many seconds more; zero: it is not."""
        known = (self._known.get(of) for of in (target.of_message, target.of_channel))
        found = [one for one in known if one is not None and one.not_before > self.monotonic()]
        if not found:
            return None, 0.0
        longest = max(found, key=lambda one: one.not_before)
        return longest.error, longest.not_before - self.monotonic()

    def taken(self, target: Target) -> None:
        """Slack has taken it."""
        for of in (target.of_message, target.of_channel):
            self._known.pop(of, None)

    def try_again(self, run_id: RunId) -> None:
        """Something new is to be shown of this run: each message that was refused for itself is worth one try.
        Where it was the channel, one try in a while tells for all: all that goes on in it would take from
        what Slack allows the others."""
        for of, one in self._known.items():
            if of[0] == run_id and one.error.code not in _OF_CHANNEL:
                self._known[of] = replace(one, not_before=self.monotonic())

    def forget(self, run_id: RunId, channel: str | None = None) -> None:
        """Nothing is known any more of this run's messages, nor of the channel."""
        for of in [one for one in self._known if one[0] == run_id or one == ("", channel)]:
            del self._known[of]

    def _note(self, of: tuple[str, str], error: SlackRefused, longest: float) -> None:
        before, now = self._known.get(of), self.monotonic()
        if before is not None and before.not_before > now:
            return  # Of those who asked at the same time each finds it out.
        if len(self._known) >= _KEPT:
            self._known.clear()
        count = 1 if before is None else before.count + 1
        wait = min(_FIRST * 2 ** min(count - 1, 16), longest)
        self._known[of] = Refusal(error, count, now + wait)
