"""The acknowledging rule, and everything that goes on after an acknowledgement.

What a person does is written at once, and acknowledged when the write has committed or after two
seconds, whichever is first (Slack gives three). "Done" is said only after the commit; until then it
is still being saved, and the true answer follows. An event is acknowledged when its row is
committed; Slack sends the others again.

Listeners run to their end before Bolt answers Slack, so a listener returns where it acknowledges,
and whatever goes on runs here: known, waited for at the end, and never able to undo an
acknowledgement by raising.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from agent.errors import PilothouseError, StoreUnavailable
from agent.rules.ids import RunId
from bot.slack.cards.blocks import Block
from bot.slack.cards.message import Message

T = TypeVar("T")

PATIENCE_SECONDS: Final = 2.0
#: Seconds for an event: what takes longer Slack has given up, and sends again.
EVENT_SECONDS: Final = 2.8
#: So many events are remembered that were done too late to be acknowledged.
_DONE_LATE: Final = 2_000
#: Whoever has waited longer than that for an acknowledgement shows that there is too much to do at once.
PRESSED_AFTER_SECONDS: Final = 0.5
#: For what may have been written.
WENT_WRONG: Final = (
    "Something went wrong on our side, and we can't say whether this was done. "
    "Please look at the thread before you try again."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Redrawn:
    """The clicked message as it is now: without its buttons, or with one more yes on it."""

    run_id: RunId
    message: Message
    #: When it was announced to whoever draws the thread, with what it shows; None: that is still to be done.
    announced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What follows from what a person did. An empty one says nothing."""

    #: Told to this person alone.
    text: str = ""
    #: The same with its blocks, where they can be shown.
    blocks: tuple[Block, ...] = ()
    #: It takes the place of what was clicked, which only this person saw.
    is_in_place: bool = False
    #: Told instead of nothing, if they were made to wait.
    if_late: str = ""
    #: For whoever clicked on it.
    card: Redrawn | None = None
    #: The run that began with what they said: it is of its thread.
    begun: RunId | None = None
    #: Messages at a modal's fields, block id by block id; the modal stays open.
    errors: Mapping[str, str] = field(default_factory=dict)


class SendAgain(PilothouseError):
    """It can't be known yet what follows from an event: Slack is to deliver it once more."""


class _TooSlow(SendAgain):
    """What an event asks for goes on behind its acknowledgement, which it is too late for."""


#: By these an event is left to Slack.
_NOT_YET: Final = (StoreUnavailable, SendAgain)


class Person(Protocol):
    """Somebody who did something and is owed an answer."""

    @property
    def saving(self) -> str:
        """What is said while the write takes longer than they should wait."""

    async def acknowledge(self, answer: Answer | None) -> bool:
        """Answer Slack; None: the answer is not known yet. True when that told them all there is."""

    async def tell(self, answer: Answer) -> None:
        """Tell them afterwards, and only them. Never raises for what Slack does."""


class Answering:
    """Answers people by the rule; one a process."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        """``patience`` in seconds."""
        self._patience = patience
        self._running: set[asyncio.Task[Any]] = set()
        #: The events that are at work, by their ids, and the newest that were done when nobody waited any more.
        self._events: dict[str, asyncio.Task[Answer]] = {}
        self._done_late: deque[str] = deque(maxlen=_DONE_LATE)
        #: Whom nothing was said to yet, and since when: the longest waiting first.
        self._unacknowledged: dict[asyncio.Task[Answer], float] = {}

    @property
    def is_pressed(self) -> bool:
        """Does somebody wait too long for their acknowledgement?"""
        now = asyncio.get_running_loop().time()
        since = next(iter(self._unacknowledged.values()), now)
        return now - since > PRESSED_AFTER_SECONDS

    async def answer(self, person: Person, work: Coroutine[Any, Any, Answer], about: str) -> None:
        """Do the work and tell the person; returns once Slack has its acknowledgement. ``about``
        names, in the log, what it is about: ids only."""
        task = self.keep(self._whatever_happens(work, about))
        self._unacknowledged[task] = asyncio.get_running_loop().time()
        try:
            done, _ = await asyncio.wait({task}, timeout=self._patience)
        finally:
            del self._unacknowledged[task]
        if not done:
            is_told = await person.acknowledge(None)
            self.keep(self._follow(person, task, is_told))
        elif not await person.acknowledge(task.result()):
            self.keep(person.tell(task.result()))

    async def answer_when_done(
        self, person: Person, work: Coroutine[Any, Any, Answer], about: str, event_id: str | None
    ) -> None:
        """The rule for events: acknowledged when committed. What takes too long for that goes on, and is done once:
        delivered again, it only acknowledges. Raises ``StoreUnavailable`` and ``SendAgain``, and then nothing is
        acknowledged."""
        at_work = self._events.get(event_id or "")
        if at_work is not None or event_id in self._done_late:
            work.close()
            if at_work is not None:
                await self._in_time(at_work)
            await person.acknowledge(Answer())
            return
        task = self.keep(self._whatever_happens(work, about, but=_NOT_YET))
        if event_id is not None:
            self._events[event_id] = task
            task.add_done_callback(lambda _: self._events.pop(event_id))
        try:
            answer = await self._in_time(task)
        except _TooSlow:
            self.keep(self._tell_late(person, task, event_id))
            raise
        if not await person.acknowledge(answer):
            self.keep(person.tell(answer))

    async def _in_time(self, task: asyncio.Task[Answer]) -> Answer:
        """Raises ``_TooSlow``, and what the task raises."""
        done, _ = await asyncio.wait({task}, timeout=EVENT_SECONDS)
        if not done:
            raise _TooSlow("an event takes longer than Slack waits")
        return task.result()

    async def _tell_late(
        self, person: Person, task: asyncio.Task[Answer], event_id: str | None
    ) -> None:
        with suppress(*_NOT_YET):  # It is done when it is delivered again.
            answer = await task
            if event_id is not None:
                self._done_late.append(event_id)
            await person.tell(answer)

    def keep(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run this to its end, also after the request that it came with."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def wait(self, timeout: float) -> None:
        """Wait for what is running, at most ``timeout`` seconds."""
        deadline = asyncio.get_running_loop().time() + timeout
        while self._running:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait(set(self._running), timeout=left)

    async def drain(self, timeout: float) -> None:
        """The same at the very end: what is left then is cut off."""
        await self.wait(timeout)
        rest = list(self._running)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _follow(self, person: Person, task: asyncio.Task[Answer], is_told: bool) -> None:
        saying = None if is_told else self.keep(person.tell(Answer(text=person.saving)))
        answer = await task
        if answer.card is not None:
            # What everybody sees waits for nothing that is said to one.
            await person.tell(Answer(card=answer.card))
        if saying is not None:
            await saying
        await person.tell(replace(answer, card=None, text=answer.text or answer.if_late))

    async def _whatever_happens(
        self,
        work: Coroutine[Any, Any, Answer],
        about: str,
        but: type[Exception] | tuple[type[Exception], ...] = (),
    ) -> Answer:
        return await self.ended(work, about, Answer(text=WENT_WRONG), but)

    async def ended(
        self,
        work: Awaitable[T],
        about: str,
        instead: T,
        but: type[Exception] | tuple[type[Exception], ...] = (),
    ) -> T:
        """What comes of the work; ``instead`` where it ends as nobody foresaw, and that is logged."""
        try:
            return await work
        except but:
            raise
        except Exception as error:
            # Where it happened, but not the error's words: they may quote what somebody wrote.
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("Could not answer about %s: %s\n%s", about, type(error).__name__, where)
            return instead
