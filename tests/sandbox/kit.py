"""Blocks of every kind, each as small as it may be."""

from __future__ import annotations

from typing import Any

from tests.sandbox.driving import button, plain

Block = dict[str, Any]


def rich(text: str = "x") -> Block:
    words = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [words]}


def cell(text: str = "x", kind: str = "raw_text") -> Block:
    return {"type": kind, "text": text}


def table(rows: int, columns: int, text: str = "x") -> Block:
    return {"type": "table", "rows": [[cell(text)] * columns] * rows}


def data_table(rows: int, **more: Any) -> Block:
    block = {"type": "data_table", "caption": "c", "rows": [[cell(), cell()]] * rows}
    return block | more


def data_rows(*rows: list[Block]) -> Block:
    return {"type": "data_table", "caption": "c", "rows": [*rows]}


def card(**more: Any) -> Block:
    return {"type": "card", "title": plain("t")} | more


def carousel(count: int) -> Block:
    return {"type": "carousel", "elements": [card()] * count}


def container(*children: Block, **more: Any) -> Block:
    return {"type": "container", "title": plain("t"), "child_blocks": [*children]} | more


def task(**more: Any) -> Block:
    return {"type": "task_card", "task_id": "1", "title": "t", "status": "pending"} | more


def plan(*tasks: Block, **more: Any) -> Block:
    return {"type": "plan", "title": "t", "tasks": [*tasks]} | more


def video(**more: Any) -> Block:
    addresses = {"video_url": "https://a.example", "thumbnail_url": "https://a.example/t"}
    return {"type": "video", "title": plain("t"), "alt_text": "a", **addresses} | more


def acting(**element: Any) -> Block:
    return {"type": "actions", "elements": [{"action_id": "a"} | element]}


def context_actions(**element: Any) -> Block:
    return acting(**element) | {"type": "context_actions"}


def field(**element: Any) -> Block:
    return {"type": "input", "label": plain("l"), "element": {"action_id": "a"} | element}


def select(count: int, **more: Any) -> Block:
    options = [{"text": plain("x"), "value": str(number)} for number in range(count)]
    return acting(type="static_select", options=options, **more)


def feedback(**more: Any) -> Block:
    one = {"text": plain("Good"), "value": "good"}
    buttons = {"positive_button": one, "negative_button": one}
    return context_actions(type="feedback_buttons", **(buttons | more))


DIVIDER: Block = {"type": "divider"}
IMAGE: Block = {"type": "image", "image_url": "https://a.example/i.png", "alt_text": "i"}


def section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def fields(count: int, length: int) -> Block:
    return {"type": "section", "fields": [plain("x" * length)] * count}


def actions(*elements: Block, **more: Any) -> Block:
    return {"type": "actions", "elements": [*elements]} | more


def overflow(count: int, text: str = "x", value: str = "v") -> Block:
    options = [{"text": plain(text), "value": value} for _ in range(count)]
    return actions({"type": "overflow", "action_id": "more", "options": options})


def confirm(**changed: Any) -> Block:
    texts = {"title": plain("t"), "text": plain("x"), "confirm": plain("y"), "deny": plain("n")}
    return actions(button("a", confirm=texts | changed))


def context(count: int) -> Block:
    return {"type": "context", "elements": [plain("x")] * count}
