"""Limits of blocks: just right, and one too much."""

from __future__ import annotations

import pytest

from bot.sandbox.limits.messages import find_problems
from tests.sandbox.driving import button, plain
from tests.sandbox.kit import (
    DIVIDER,
    IMAGE,
    Block,
    actions,
    card,
    carousel,
    cell,
    container,
    context,
    data_rows,
    data_table,
    fields,
    overflow,
    plan,
    rich,
    section,
    table,
    task,
    video,
)

BLOCKS: list[tuple[list[Block], list[Block], str]] = [
    ([table(100, 20, "x")], [table(101, 1)], "/0/rows"),
    ([table(1, 20)], [table(1, 21)], "/0/rows/0"),
    ([table(1, 1, "x" * 10_000)], [table(2, 1, "x" * 5001)], "/0/rows"),
    ([table(1, 1)], [{"type": "table", "rows": [[{"type": "button"}]]}], "/0/rows/0/0/type"),
    (
        [table(1, 1) | {"column_settings": [None, {"align": "right"}]}],
        [table(1, 1) | {"column_settings": [{"align": "up"}]}],
        "/0/column_settings/0/align",
    ),
    ([data_table(2)], [data_table(1)], "/0/rows"),
    ([data_table(201)], [data_table(202)], "/0/rows"),
    ([data_table(2)], [{"type": "data_table", "rows": [[cell()]] * 2}], "/0"),
    ([data_table(2, page_size=100)], [data_table(2, page_size=101)], "/0/page_size"),
    ([data_table(2)], [data_rows([cell()], [cell(), cell()])], "/0/rows/1"),
    ([data_rows([cell()], [rich()])], [data_rows([rich()], [cell()])], "/0/rows/0/0/type"),
    ([card()], [{"type": "card"}], "/0"),
    ([card(title=plain("x" * 150))], [card(title=plain("x" * 151))], "/0/title/text"),
    ([card(body=plain("x" * 200))], [card(body=plain("x" * 201))], "/0/body/text"),
    ([card(actions=[button("a")])], [card(actions=[{"type": "overflow"}])], "/0/actions/0/type"),
    ([card(icon=IMAGE)], [card(icon={"type": "image"})], "/0/icon"),
    ([container(*[DIVIDER] * 10)], [container(*[DIVIDER] * 11)], "/0/child_blocks"),
    ([container(DIVIDER)], [container()], "/0/child_blocks"),
    ([container(DIVIDER)], [container(container(DIVIDER))], "/0/child_blocks/0/type"),
    (
        [container(DIVIDER, rich_text_title=rich(), title=None)],
        [container(DIVIDER, title=None)],
        "/0",
    ),
    (
        [container(DIVIDER, is_collapsible=True, default_collapsed=True)],
        [container(DIVIDER, default_collapsed=True)],
        "/0/default_collapsed",
    ),
    ([container(DIVIDER, width="wide")], [container(DIVIDER, width="huge")], "/0/width"),
    (
        [container(DIVIDER | {"block_id": "a"}, block_id="b")],
        [container(DIVIDER | {"block_id": "a"}, block_id="a")],
        "",
    ),
    ([task(details=rich(), output=rich())], [task(details="text")], "/0/details"),
    ([task(status="error")], [task(status="failed")], "/0/status"),
    ([task()], [{"type": "task_card", "title": "t"}], "/0"),
    (
        [task(sources=[{"type": "url", "url": "https://a.example", "text": "a"}])],
        [task(sources=[{"type": "url", "text": "a"}])],
        "/0/sources/0",
    ),
    ([plan(task(), task(task_id="2"))], [plan(task(title=None))], "/0/tasks/0"),
    ([plan()], [{"type": "plan"}], "/0"),
    ([video()], [video(title=plain("x" * 200))], "/0/title/text"),
    ([video(author_name="x" * 49)], [video(author_name="x" * 50)], "/0/author_name"),
    ([video()], [video(video_url=None)], "/0"),
    ([IMAGE], [IMAGE | {"alt_text": ""}], "/0/alt_text"),
    ([IMAGE], [{"type": "image", "alt_text": "i"}], "/0"),
    ([IMAGE], [IMAGE | {"image_url": "https://a.example/" + "x" * 3000}], "/0/image_url"),
    ([DIVIDER], [{"type": "file", "external_id": "x", "source": "remote"}], "/0/type"),
    ([DIVIDER], [{"type": "alert", "text": plain("x")}], "/0/type"),
    ([DIVIDER], [{"text": "x"}], "/0"),
    ([section("x" * 3000)], [section("x" * 3001)], "/0/text/text"),
    ([section("x")], [section("")], "/0/text/text"),
    ([section("x")], [{"type": "section"}], "/0"),
    ([fields(10, 1000)], [fields(11, 1)], "/0/fields"),
    ([fields(1, 2000)], [fields(1, 2001)], "/0/fields/0/text"),
    (
        [{"type": "header", "text": plain("x" * 150)}],
        [{"type": "header", "text": plain("x" * 151)}],
        "/0/text/text",
    ),
    (
        [{"type": "header", "text": plain("x")}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        "/0/text/type",
    ),
    (
        [actions(button("a"), block_id="b" * 255)],
        [actions(button("a"), block_id="b" * 256)],
        "/0/block_id",
    ),
    (
        [actions(button("a"), block_id="b"), actions(button("c"), block_id="c")],
        [actions(button("a"), block_id="b"), actions(button("c"), block_id="b")],
        "",
    ),
    ([section("x")] * 1, [section("x")] * 51, ""),
    ([overflow(1), context(10)], [overflow(6)], "/0/elements/0/options"),
    ([context(10)], [context(11)], "/0/elements"),
    ([{"type": "divider"}], [{"type": "dividers"}], "/0/type"),
    (
        [{"type": "markdown", "text": "x" * 12_000}],
        [{"type": "markdown", "text": "x" * 12_001}],
        "/0/text",
    ),
    ([carousel(10)], [carousel(11)], "/0/elements"),
    ([carousel(1)], [{"type": "carousel", "elements": [DIVIDER]}], "/0/elements/0/type"),
    (
        [rich("x" * 10_000)],
        [{"type": "rich_text", "elements": [{"type": "song"}]}],
        "/0/elements/0/type",
    ),
    ([IMAGE], [IMAGE | {"image_url": "data:image/png,x"}], "/0/image_url"),
    ([DIVIDER], [DIVIDER | {"zzz": 1}], "/0"),
    ([DIVIDER], [DIVIDER | {"child_blocks": 5}], "/0"),
    ([section("x")], [{"type": "section", "text": plain("x") | {"zzz": 1}}], "/0/text"),
    (
        [{"type": "section", "text": plain("x") | {"emoji": True}}],
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x", "emoji": True}}],
        "/0/text",
    ),
    ([section("x") | {"expand": True}], [section("x") | {"expand": "yes"}], "/0/expand"),
    (
        [table(1, 1) | {"column_settings": [{"is_wrapped": True}]}],
        [table(1, 1) | {"column_settings": [{"width": 1}]}],
        "/0/column_settings/0",
    ),
    (
        [rich()],
        [{"type": "rich_text", "elements": [{"type": "rich_text_quote", "color": 1}]}],
        "/0/elements/0",
    ),
    (
        [rich()],
        [{"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": [cell()]}]}],
        "/0/elements/0/elements/0/type",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "pointer"), BLOCKS)
def test_blocks(right: list[Block], wrong: list[Block], pointer: str) -> None:
    assert find_problems(right, "").found == []
    assert pointer in [problem.pointer for problem in find_problems(wrong, "").all]
