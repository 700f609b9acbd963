"""What Slack refuses until somebody does something about it: for how long each message, each thread and each
channel is let alone.

A thread is looked at again for many reasons, and often much sooner than what was refused is worth another try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from agent.rules.ids import RunId
from bot.slack.thread.edge import SlackRefused

#: Nothing of any run is taken there: one that finds it out does so for all of them.
_OF_CHANNEL: Final = {"not_in_channel", "channel_not_found", "is_archived", "is_inactive"}
#: Nothing new is taken in this thread; what stands there can be edited all the same.
_OF_THREAD: Final = {"thread_not_found", "cannot_reply_to_message"}
#: Said of a method, whatever it is called for.
_OF_APP: Final = {"missing_scope"}
#: And of one message, or one place.
_OF_MESSAGE: Final = {"message_not_found", "messages_tab_disabled", "user_disabled"}
_RESTRICTED: Final = "restricted_action"
_FIRST: Final = 1.0
_LONGEST: Final = 300.0
#: Where people wait for it to be mended, and where one try tells of many threads.
_LONGEST_AWAITED: Final = 60.0
#: A thread that is gone rarely comes back.
_LONGEST_GONE: Final = 3600.0
#: Runs, and channels.
_KEPT: Final = 10_000
_WHOLE_THREAD: Final = "thread:"

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Slack said, how often on end, and when it is worth another try."""

    error: SlackRefused
    count: int
    not_before: float
    #: Is nothing of any run taken there?
    is_of_channel: bool = False

    @property
    def is_certain(self) -> bool:
        """Is it certain that the message can't stand there? Of what Slack says and is not known here, only
        when it is said again."""
        code = self.error.code
        is_known = code in _OF_CHANNEL | _OF_THREAD | _OF_MESSAGE or code.startswith(_RESTRICTED)
        return is_known or self.count > 1

    @property
    def is_trouble(self) -> bool:
        """Is it certain, and for the run's own place to mend?"""
        return self.error.code not in _OF_APP and self.is_certain


@dataclass(frozen=True, slots=True)
class Target:
    """A message of a run, and the channel in which it is to stand."""

    run_id: RunId
    key: str
    channel: str
    #: Does it stand there already?
    is_posted: bool = False
    #: In the thread of this message of the run's; None: in the run's own, or in no thread.
    below: str | None = None
    #: Is it a file? What Slack says of that tells nothing of the messages beside it.
    is_file: bool = False

    @property
    def whole_thread(self) -> str:
        """In the place of a key, for all that is to stand in the same thread."""
        return f"{_WHOLE_THREAD}{self.below or ''}"


@dataclass
class Refusals:
    """As this process has met them. ``monotonic`` gives seconds."""

    monotonic: Callable[[], float]
    #: By channel and key.
    _of_runs: dict[RunId, dict[tuple[str, str], Refusal]] = field(default_factory=dict)
    _of_channels: dict[str, Refusal] = field(default_factory=dict)

    def met(self, target: Target, error: SlackRefused, *, is_awaited: bool) -> None:
        """Slack has refused it."""
        is_gone = error.code in _OF_THREAD and not (target.is_posted or target.is_file)
        is_of_channel = error.code in _OF_CHANNEL and not target.is_file
        is_awaited = is_awaited or error.code in _OF_CHANNEL
        longest = _LONGEST_GONE if is_gone else _LONGEST_AWAITED if is_awaited else _LONGEST
        known = self._of_runs.get(target.run_id, {})
        for key in [target.key, target.whole_thread] if is_gone else [target.key]:
            of = (target.channel, key)
            known[of] = self._again(known.get(of), error, longest, is_of_channel=is_of_channel)
        _keep(self._of_runs, target.run_id, known)
        if is_of_channel:
            before = self._of_channels.get(target.channel)
            again = self._again(before, error, longest, is_of_channel=True)
            _keep(self._of_channels, target.channel, again)

    def of(self, target: Target) -> Refusal | None:
        """Why it is let alone; None: it is not."""
        found = [one for one in self._met(target) if one.not_before > self.monotonic()]
        return max(found, key=lambda one: one.not_before) if found else None

    def left(self, refusal: Refusal) -> float:
        """For how many seconds more."""
        return max(0.0, refusal.not_before - self.monotonic())

    def was_met(self, target: Target) -> bool:
        """Was it refused when it was last tried?"""
        return bool(self._met(target))

    def taken(self, target: Target) -> None:
        """Slack has taken it."""
        self._of_channels.pop(target.channel, None)
        if (known := self._of_runs.get(target.run_id)) is None:
            return
        known.pop((target.channel, target.key), None)
        if not target.is_posted:
            known.pop((target.channel, target.whole_thread), None)

    def try_again(self, run_id: RunId) -> None:
        """Something new is to be shown of this run: each message that was refused for itself is worth one try.
        Where it was the channel, one try in a while tells for all: all that goes on in it would take from
        what Slack allows the others."""
        known = self._of_runs.get(run_id, {})
        for of, one in known.items():
            if not one.is_of_channel:
                known[of] = replace(one, not_before=self.monotonic())

    def forget(self, run_id: RunId, channels: Iterable[str] = ()) -> None:
        """Nothing is known any more of this run's messages, nor of these channels."""
        self._of_runs.pop(run_id, None)
        for channel in channels:
            self._of_channels.pop(channel, None)

    def _met(self, target: Target) -> list[Refusal]:
        known = self._of_runs.get(target.run_id, {})
        keys = [target.key] if target.is_posted else [target.key, target.whole_thread]
        found = [known.get((target.channel, key)) for key in keys]
        return [one for one in (*found, self._of_channels.get(target.channel)) if one is not None]

    def _again(
        self,
        before: Refusal | None,
        error: SlackRefused,
        longest: float,
        *,
        is_of_channel: bool,
    ) -> Refusal:
        now = self.monotonic()
        if before is not None and before.not_before > now:
            return before  # Of those who asked at the same time each finds it out.
        count = 1 if before is None else before.count + 1
        not_before = now + min(_FIRST * 2 ** min(count - 1, 16), longest)
        return Refusal(error, count, not_before, is_of_channel)


def _keep(known: dict[K, V], key: K, value: V) -> None:
    """As the newest; the oldest are forgotten."""
    known.pop(key, None)
    while len(known) >= _KEPT:
        del known[next(iter(known))]
    known[key] = value
