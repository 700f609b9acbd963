"""What a server answers, as an output: text where it is text, a note otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from agent.tools.mcp.answers import failure_of, output_of


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


IMAGE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
ANSWERS: list[tuple[dict[str, Any], Any]] = [
    ({"content": []}, ""),
    ({"content": [text("one")]}, "one"),
    ({"content": [text("one"), text("two")]}, "one\n\ntwo"),
    ({"content": [text("3")], "structuredContent": {"result": 3}}, 3),
    ({"content": [], "structuredContent": {"a": 1, "b": [2]}}, {"a": 1, "b": [2]}),
    (
        {"content": [text("{}")], "structuredContent": {"result": 1, "more": 2}},
        {"result": 1, "more": 2},
    ),
    ({"content": [IMAGE]}, "[image, image/png, 5 bytes: it can't be read here]"),
    (
        {"content": [text("seen"), IMAGE], "structuredContent": {"a": 1}},
        {
            "content": "seen\n\n[image, image/png, 5 bytes: it can't be read here]",
            "structured": {"a": 1},
        },
    ),
    (
        {"content": [{"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"}]},
        "[audio, audio/wav, 6 bytes: it can't be read here]",
    ),
    (
        {"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "words"}}]},
        "[file:///a]\nwords",
    ),
    (
        {"content": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}}]},
        "[file:///a, of no kind, 2 bytes: it can't be read here]",
    ),
    (
        {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
        "[a link to file:///a, of no kind: it was not fetched]",
    ),
    ({"content": [{"type": "hologram"}]}, "[hologram: it can't be read here]"),
    ({}, ""),
]


@pytest.mark.parametrize(("answer", "output"), ANSWERS, ids=[str(one)[:50] for one, _ in ANSWERS])
def test_an_answer_is_text_where_it_is_text(answer: dict[str, Any], output: Any) -> None:
    assert output_of(answer) == output


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"content": [text("no such file")]}, "no such file"),
        ({"content": [], "structuredContent": {"code": 7}}, {"code": 7}),
        ({"content": []}, "The server says that it failed, and not why."),
    ],
)
def test_a_failure_is_told_in_the_servers_words(answer: dict[str, Any], why: Any) -> None:
    assert failure_of(answer) == why
