"""Limits of the blocks that came with agents: tasks, plans, cards, alerts."""

from __future__ import annotations

from bot.sandbox.limits.elements import check_element, check_image
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import BLOCKS, OBJECTS
from bot.sandbox.limits.rich_text import optional_rich_text
from bot.sandbox.wire import Json

TASK_STATUSES = ("pending", "in_progress", "complete", "error")
ALERT_LEVELS = ("default", "info", "warning", "error", "success")
CARD_TEXT = {"title": 150, "subtitle": 150, "body": 200}
#: Slack's docs speak of 256 characters for a task's title; its server took 40,000 in a report.
TASK_TITLE = 12_000


def check_task_card(problems: Problems, block: Json, pointer: str) -> None:
    problems.required_length(block, "task_id", pointer, 255)
    problems.required_length(block, "title", pointer, TASK_TITLE)
    problems.optional_one_of(block, "status", pointer, TASK_STATUSES)
    optional_rich_text(problems, block, "details", pointer)
    optional_rich_text(problems, block, "output", pointer)
    if block.get("sources") is not None:
        for index, source in enumerate(problems.items(block, "sources", pointer, 100, least=0)):
            place = f"{pointer}/sources/{index}"
            problems.only(source, place, OBJECTS["url_source"])
            problems.one_of(source, "type", place, ("url",))
            problems.required_length(source, "url", place, 3000)
            problems.required_length(source, "text", place, 3000)


def check_plan(problems: Problems, block: Json, pointer: str) -> None:
    problems.required_length(block, "title", pointer, TASK_TITLE)
    if block.get("tasks") is not None:
        for index, task in enumerate(problems.items(block, "tasks", pointer, 50, least=0)):
            place = f"{pointer}/tasks/{index}"
            problems.optional_one_of(task, "type", place, ("task_card",))
            problems.only(task, place, BLOCKS["task_card"])
            check_task_card(problems, task, place)


def check_card(problems: Problems, block: Json, pointer: str) -> None:
    if not any(block.get(name) for name in ("hero_image", "title", "actions", "body")):
        problems.add(pointer, "must have at least one of hero_image, title, actions, body")
    for name, most in CARD_TEXT.items():
        problems.optional_text(block, name, pointer, most, plain=False)
    for name in ("hero_image", "icon"):
        if isinstance(block.get(name), dict):
            check_image(problems, block[name], f"{pointer}/{name}")
    if block.get("actions") is not None:
        for index, action in enumerate(problems.items(block, "actions", pointer, 25)):
            check_element(problems, action, f"{pointer}/actions/{index}", ("button",))


def check_carousel(problems: Problems, block: Json, pointer: str) -> None:
    for index, card in enumerate(problems.items(block, "elements", pointer, 10)):
        place = f"{pointer}/elements/{index}"
        problems.one_of(card, "type", place, ("card",))
        problems.only(card, place, BLOCKS["card"])
        check_card(problems, card, place)


def check_alert(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "text", pointer, 200)
    problems.optional_one_of(block, "level", pointer, ALERT_LEVELS)
