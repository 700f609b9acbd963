"""What Slack still allows the app in a workspace, whichever of its processes asks.

Nobody waits in here: whoever may not call yet is told how long, lets go, and comes back with what is
true then. So a burst of changes becomes one edit. Those who are told to come back are told different
times, so that they don't all come for the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from agent.ports import Allowances, Rate, Take

#: chat.update, reactions.add and conversations.* have at least fifty a minute a workspace. Twelve at once and one
#: every 1.6 s are never more than forty-nine in any minute.
_FIFTY_A_MINUTE: Final = Rate(timedelta(seconds=1.6), 12)
#: Of conversations.replies, for what people say to each other: at most fourteen in any minute.
_A_SHARE: Final = Rate(timedelta(seconds=6), 4)
#: chat.postEphemeral, views.publish and the uploads of files have at least a hundred: twenty-four at once and one
#: every 0.8 s.
_HUNDRED_A_MINUTE: Final = Rate(timedelta(seconds=0.8), 24)
#: chat.startStream and chat.stopStream have at least twenty: four at once and one every four seconds.
_TWENTY_A_MINUTE: Final = Rate(timedelta(seconds=4), 4)
#: A message a second in a channel, with short bursts.
_IN_A_CHANNEL: Final = Rate(timedelta(seconds=1), 5)
#: "Several hundred" a minute a workspace.
_IN_A_WORKSPACE: Final = Rate(timedelta(seconds=0.25), 30)
#: What is left of a burst for more urgent ones, by priority: approval cards use the last of it.
_RESERVES: Final = (0, 2, 6, 10)
#: Of a small burst.
_FEW: Final = (0, 1, 2, 2)
#: Whoever is told to come back later than this comes back all the same: it may have become free.
_LONGEST: Final = 20.0
_LINES_KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Action:
    """A call of the Web API, with all that it is counted for: the broadest first."""

    keys: tuple[str, ...]
    rates: tuple[Rate, ...]
    reserves: tuple[tuple[int, ...], ...]

    def wanted(self, priority: int) -> tuple[Take, ...]:
        return tuple(
            Take(key, rate, reserves[priority])
            for key, rate, reserves in zip(self.keys, self.rates, self.reserves, strict=True)
        )


def posting(team: str, channel: str) -> Action:
    """A new message."""
    key = _key(team, "chat.postMessage")
    rates = (_IN_A_WORKSPACE, _IN_A_CHANNEL)
    return Action((key, f"{key}:{channel}"), rates, (_RESERVES, _FEW))


def starting_stream(team: str) -> Action:
    """A message that grows."""
    return Action((_key(team, "chat.startStream"),), (_TWENTY_A_MINUTE,), (_FEW,))


def appending(team: str) -> Action:
    """More of it."""
    return Action((_key(team, "chat.appendStream"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def stopping_stream(team: str) -> Action:
    """It grows no more."""
    return Action((_key(team, "chat.stopStream"),), (_TWENTY_A_MINUTE,), (_FEW,))


def saying_status(team: str) -> Action:
    """What Slack shows of a conversation as a whole."""
    return Action((_key(team, "agents.sessions.setStatus"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def announcing(team: str) -> Action:
    """A file is to be uploaded."""
    return Action((_key(team, "files.getUploadURLExternal"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def sharing(team: str) -> Action:
    """What was uploaded is shared: a new message, too."""
    return Action((_key(team, "files.completeUploadExternal"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def withdrawing(team: str) -> Action:
    """A file is taken back."""
    return Action((_key(team, "files.delete"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def whispering(team: str) -> Action:
    """A message that only one person sees."""
    return Action((_key(team, "chat.postEphemeral"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def showing_home(team: str) -> Action:
    """Somebody's Home tab."""
    return Action((_key(team, "views.publish"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def suggesting(team: str) -> Action:
    """What somebody might say to us."""
    key = _key(team, "assistant.threads.setSuggestedPrompts")
    return Action((key,), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def editing(team: str) -> Action:
    """An edit of a message."""
    return Action((_key(team, "chat.update"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def deleting(team: str) -> Action:
    """A message is taken back."""
    return Action((_key(team, "chat.delete"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def reacting(team: str) -> Action:
    """A reaction to a message."""
    return Action((_key(team, "reactions.add"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def reading(team: str, is_thread: bool) -> Action:
    """A page of a thread, or of a channel."""
    method = "conversations.replies" if is_thread else "conversations.history"
    return Action((_key(team, method),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def reading_for_asides(team: str) -> Action:
    """The share of it for threads in which nobody has spoken to us, counted beside the page itself."""
    key = f"{_key(team, 'conversations.replies')}:asides"
    return Action((key,), (_A_SHARE,), ((0, 0, 0, 0),))


def looking_up_file(team: str) -> Action:
    """What Slack knows of a file."""
    return Action((_key(team, "files.info"),), (_HUNDRED_A_MINUTE,), (_RESERVES,))


def looking_up_channel(team: str) -> Action:
    """What Slack knows of a channel."""
    return Action((_key(team, "conversations.info"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def opening(team: str) -> Action:
    """Where somebody is written to directly."""
    return Action((_key(team, "conversations.open"),), (_FIFTY_A_MINUTE,), (_RESERVES,))


def _key(team: str, method: str) -> str:
    return f"slack:{team}:{method}"


@dataclass(slots=True)
class _Line:
    """Those who wait for the same thing with the same urgency."""

    #: Before this it is of no use to ask the store.
    not_before: float = 0.0
    #: The place behind everybody who was told to come back.
    end: float = 0.0


@dataclass(slots=True)
class Limiter:
    """Takes from what the processes share. ``monotonic`` gives seconds."""

    allowances: Allowances
    monotonic: Callable[[], float]
    _held_until: float = 0.0
    _lines: dict[tuple[str, int], _Line] = field(default_factory=dict)

    @property
    def held(self) -> float:
        """Seconds in which this process can send nothing at all."""
        return max(0.0, self._held_until - self.monotonic())

    def hold(self, seconds: float) -> None:
        """This process has no access: it does not ask for so long."""
        self._held_until = max(self._held_until, self.monotonic() + seconds)

    async def take(self, action: Action, priority: int) -> float:
        """Zero: call now. Else the seconds until it may be asked for again. Raises
        ``StoreUnavailable``."""
        if held := self.held:
            return held
        line = self._line(action, priority)
        if (now := self.monotonic()) >= line.not_before:
            wait = await self.allowances.take(action.wanted(priority))
            if not wait:
                return 0.0
            line.not_before = now + wait.total_seconds()
        place = min(max(line.not_before, line.end), now + _LONGEST)
        # Nobody is told a later place than that: the line begins anew with those who are told it.
        line.end = min(place + action.rates[-1].every.total_seconds(), now + _LONGEST)
        return max(place - now, 0.001)

    async def withhold(self, action: Action, seconds: float) -> None:
        """Slack said when to come back: everybody does. Raises ``StoreUnavailable``."""
        for key in action.keys:
            await self.allowances.withhold(key, timedelta(seconds=seconds))

    def _line(self, action: Action, priority: int) -> _Line:
        if len(self._lines) >= _LINES_KEPT:
            self._lines.clear()
        return self._lines.setdefault((action.keys[-1], priority), _Line())
