"""What a run does while nobody is waited for, as it is streamed where one person talks to it: a task a call.

Between two questions lies a stretch of work, with a message of its own; a long one takes several, so that none outgrows
what Slack takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from agent.rules.calls import Call
from agent.rules.ids import RunId
from agent.rules.state import RunState
from bot.slack.cards.blocks import Block, lines
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.message import Message
from bot.slack.cards.text import escape, one_line

Progress = Literal["in_progress", "complete", "error"]
Chunk: TypeAlias = dict[str, Any]

LIVE_KEY: Final = "live:"
#: Of one message: Slack takes fifty blocks, and a task is one.
_TASKS_LIMIT: Final = 20
#: In bytes: people measured that more than ten and a half thousand is refused, also at the end.
_SIZE_LIMIT: Final = 9_000
_BLOCKS_LIMIT: Final = 45
_MARKS: Final[Mapping[Progress, str]] = {"in_progress": "▶︎", "complete": "✓", "error": "✗"}
_LETTERS: Final[Mapping[Progress, str]] = {"in_progress": "i", "complete": "c", "error": "e"}
_SEPARATOR: Final = "|"


@dataclass(frozen=True, slots=True)
class Task:
    """One call, as it is streamed. Its title is the tool's own: no word of a model's or a user's."""

    call_id: str
    title: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class Page:
    """One message of a stretch of work."""

    key: str
    tasks: tuple[Task, ...]

    @property
    def letters(self) -> str:
        """How far each is: all that can change of them."""
        return "".join(_LETTERS[task.progress] for task in self.tasks)

    def chunks(self, run_id: RunId, shown: str = "") -> list[Chunk]:
        """Those of which ``shown`` says otherwise, or nothing. Sent twice they are what they were."""
        return [
            {
                "type": "task_update",
                "id": mark(run_id, self.key, task.call_id),
                "title": task.title,
                "status": task.progress,
            }
            for task, was in zip(self.tasks, shown.ljust(len(self.tasks)), strict=False)
            if was != _LETTERS[task.progress]
        ]

    @property
    def message(self) -> Message:
        """The same as an ordinary message: what stays, where Slack has ended the stream."""
        rows = [("", f"{_MARKS[task.progress]} {task.title}") for task in self.tasks] or [("", "…")]
        return Message(text=" · ".join(escape(row) for _, row in rows), blocks=(lines(rows),))

    def holds(self, blocks: Sequence[Block]) -> bool:
        """Does the stream take these blocks, too?"""
        titles = sum(len(task.title.encode()) for task in self.tasks)
        text = json.dumps(list(blocks), ensure_ascii=False)
        is_small = titles + len(text.encode(errors="replace")) <= _SIZE_LIMIT
        return is_small and len(self.tasks) + len(blocks) <= _BLOCKS_LIMIT


def mark(run_id: RunId, key: str, rest: str) -> str:
    """By which the message is found again: a stream takes no metadata before its end."""
    return _SEPARATOR.join((run_id, key, rest))


def read_mark(found: object) -> tuple[str, str] | None:
    """The run and the key in one; None for what is none."""
    parts = found.split(_SEPARATOR) if isinstance(found, str) else []
    is_one = len(parts) == 3 and parts[1].startswith(LIVE_KEY)
    return (parts[0], parts[1]) if is_one else None


def pages(state: RunState) -> Mapping[str, Page]:
    """All in which anything was begun, by their keys."""
    stretches: dict[int, list[Call]] = {}
    begun = [(call.started_at, call) for call in state.own_calls if call.started_at is not None]
    since = _interruptions(state)
    for started_at, call in sorted(begun, key=lambda one: one[0]):
        number = sum(one <= started_at for one in since)
        stretches.setdefault(number, []).append(call)
    found = [
        Page(
            _key(number, first), tuple(_task(call, state) for call in calls[first:][:_TASKS_LIMIT])
        )
        for number, calls in stretches.items()
        for first in range(0, len(calls), _TASKS_LIMIT)
    ]
    return {page.key: page for page in found}


def newest_page(state: RunState) -> Page:
    """Where it is shown what the run does now, or how it ended; nothing may have begun in it yet."""
    number = len(_interruptions(state))
    known = [page for page in pages(state).values() if page.key.split(".")[0] == _stretch(number)]
    return known[-1] if known else Page(_key(number, 0), ())


def is_at_work(state: RunState) -> bool:
    """Does it go on by itself, and is nobody waited for?"""
    is_interrupted = state.held is not None or state.stop is not None or bool(state.open_approvals)
    return not state.is_ended and not is_interrupted


def _interruptions(state: RunState) -> list[datetime]:
    """When it began to wait for somebody, or went on after it had failed."""
    asked = [one.requested_at for one in state.approvals.values()]
    held = [began for began, _ in state.holds] + ([state.held.at] if state.held else [])
    return [*asked, *held, *(ended for _, ended in state.outages)]


def _stretch(number: int) -> str:
    return f"{LIVE_KEY}{number + 1}"


def _key(number: int, first: int) -> str:
    page = first // _TASKS_LIMIT
    return _stretch(number) if not page else f"{_stretch(number)}.{page + 1}"


def _task(call: Call, state: RunState) -> Task:
    return Task(call.id, one_line(title_of_call(call, state), 100), _progress(call, state))


def _progress(call: Call, state: RunState) -> Progress:
    if call.result is not None:
        return (
            "complete"
            if call.result.outcome in ("ok", "happened", "answered", "dry_run")
            else "error"
        )
    return "error" if state.is_ended or call.status == "unknown" else "in_progress"
