"""Chunks of a streamed message: read, put together, and shown as blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from bot.sandbox.controls import with_ids
from bot.sandbox.escaping import as_stored, stored
from bot.sandbox.ids import Ids
from bot.sandbox.limits.blocks import MARKDOWN_TEXT, check_blocks
from bot.sandbox.limits.cards import TASK_STATUSES
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.surfaces import BLOCKS_AT_MOST
from bot.sandbox.wire import Json, SlackError

Mode = Literal["", "text", "chunks"]
Display = Literal["timeline", "plan"]


def text_chunk(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


def check_chunks(given: Any) -> list[Json]:
    """Raises `invalid_chunks`, `invalid_blocks`, `msg_blocks_too_many`, `msg_too_long`."""
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise SlackError("invalid_chunks")
    problems, blocks = Problems(), Problems()
    for index, chunk in enumerate(given):
        _check_chunk(problems, blocks, chunk, f"/chunks/{index}")
    if problems.all:
        raise SlackError("invalid_chunks", problems.found)
    if blocks.all:
        raise SlackError("invalid_blocks", blocks.found)
    texts = [chunk["text"] for chunk in given if chunk["type"] == "markdown_text"]
    if len("".join(texts)) > MARKDOWN_TEXT:
        raise SlackError("msg_too_long")
    return given


def _check_chunk(problems: Problems, blocks: Problems, chunk: Json, pointer: str) -> None:
    match chunk.get("type"):
        case "markdown_text":
            if not isinstance(chunk.get("text"), str):
                problems.missing(pointer, "text")
        case "plan_update":
            problems.required_length(chunk, "title", pointer, MARKDOWN_TEXT)
        case "task_update":
            problems.required_length(chunk, "id", pointer, MARKDOWN_TEXT)
            problems.required_length(chunk, "title", pointer, MARKDOWN_TEXT)
            problems.optional_one_of(chunk, "status", pointer, TASK_STATUSES)
            for name in ("details", "output"):
                if not isinstance(chunk.get(name, ""), str | None):
                    problems.add(f"{pointer}/{name}", "must be a string")
        case "blocks":
            found = chunk.get("blocks")
            if isinstance(found, list) and len(found) > BLOCKS_AT_MOST["message"]:
                raise SlackError("msg_blocks_too_many")
            check_blocks(blocks, found, f"{pointer}/blocks", "message")
        case other:
            problems.add(f"{pointer}/type", f"unsupported type: {other}")


@dataclass
class Draft:
    """The message so far. Which blocks Slack makes of it is seen in its clients only: a guess."""

    display: Display = "timeline"
    #: What it was begun with; the first content decides.
    mode: Mode = ""
    #: In the order of their first chunk: a text, a task's id, a plan, or blocks.
    parts: list[Json] = field(default_factory=list)
    tasks: dict[str, Json] = field(default_factory=dict)
    plan_title: str = ""

    def add(self, chunks: list[Json], mode: Mode, ids: Ids) -> None:
        """Raises `streaming_mode_mismatch`, `msg_blocks_too_many`."""
        if chunks and self.mode not in ("", mode):
            raise SlackError("streaming_mode_mismatch")
        self.mode = mode if chunks else self.mode
        for chunk in chunks:
            self._add(chunk, ids)
        if len(self.blocks()) > BLOCKS_AT_MOST["message"]:
            raise SlackError("msg_blocks_too_many")

    @property
    def text(self) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == "markdown")

    def size(self) -> int:
        """As people measured it: bytes of texts and titles, and twice those of details and output;
        not looked at before there is a text.
        """
        if not self.text:
            return 0
        titles = [self.plan_title, *(task["title"] for task in self.tasks.values())]
        inner = [task[name] for task in self.tasks.values() for name in ("details", "output")]
        return _bytes([self.text, *titles]) + 2 * _bytes(inner)

    def shown(self) -> Json:
        return {"text": stored(self.text), "blocks": self.blocks()}

    def blocks(self) -> list[Json]:
        shown: list[Json] = []
        for part in self.parts:
            match part["type"]:
                case "markdown":
                    shown.append(part)
                case "blocks":
                    shown += part["blocks"]
                case "task":
                    shown.append(_card(self.tasks[part["id"]]))
                case "plan":
                    cards = [_card(task) for task in self.tasks.values()]
                    plan = {"type": "plan", "block_id": part["block_id"]}
                    shown.append(plan | {"title": self.plan_title or "Plan", "tasks": cards})
        return shown

    def _add(self, chunk: Json, ids: Ids) -> None:
        match chunk["type"]:
            case "markdown_text":
                if not self.parts or self.parts[-1]["type"] != "markdown":
                    self.parts += with_ids([{"type": "markdown", "text": ""}], ids)
                self.parts[-1]["text"] += chunk["text"]
            case "plan_update":
                self.plan_title = chunk["title"]
            case "task_update":
                self._update_task(chunk, ids)
            case "blocks":
                blocks = with_ids([as_stored(one) for one in chunk["blocks"]], ids)
                self.parts.append({"type": "blocks", "blocks": blocks})

    def _update_task(self, chunk: Json, ids: Ids) -> None:
        """Title, status and sources are replaced; details and output grow."""
        task_id = chunk["id"]
        if task_id not in self.tasks:
            empty = {"id": task_id, "block_id": ids.token(5), "details": "", "output": ""}
            self.tasks[task_id] = empty | {"status": "pending"}
            self._place_task(task_id, ids)
        task = self.tasks[task_id]
        for name in ("title", "status", "sources"):
            if chunk.get(name) is not None:
                task[name] = chunk[name]
        for name in ("details", "output"):
            task[name] += chunk.get(name) or ""

    def _place_task(self, task_id: str, ids: Ids) -> None:
        if self.display == "timeline":
            self.parts.append({"type": "task", "id": task_id})
        elif not any(part["type"] == "plan" for part in self.parts):
            self.parts.append({"type": "plan", "block_id": ids.token(5)})


def _card(task: Json) -> Json:
    card = {"type": "task_card", "block_id": task["block_id"], "task_id": task["id"]}
    card |= {name: task[name] for name in ("title", "status", "sources") if name in task}
    for name in ("details", "output"):
        if task[name]:
            words = {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": task[name]}],
            }
            card[name] = {"type": "rich_text", "elements": [words]}
    return card


def _bytes(texts: list[str]) -> int:
    return sum(len(text.encode(errors="replace")) for text in texts)
