"""The pictures of the cards are there, show what is shown today, and docs/cards.md explains what is on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.slack import ids
from pictures.album import PICTURES
from pictures.picture import Picture
from pictures.png import word_of

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
DOCS = (ROOT / "docs" / "cards.md").read_text()
#: What is counted on a button says no more than the words before it.
COUNT = re.compile(r" \d+$| \(\+.*\)$")
OPTION = re.compile(rf"{re.escape(ids.ANSWER)}(:\d+){{1,2}}")


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Whatever a payload is made of."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list | tuple):
            yield from parts(inner)


def on_all_pictures() -> list[dict[str, Any]]:
    shown = [[one.blocks for one in picture.told] for picture in PICTURES]
    return [*parts(shown), *parts([one.view for one in PICTURES if one.view])]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.name)
def test_it_shows_what_is_shown_today(picture: Picture) -> None:
    path = IMAGES / picture.file
    assert path.exists(), "there is no such picture yet: make pictures"
    assert word_of(path) == picture.digest, "a card has changed since: make pictures"
    assert path.stat().st_size < 60_000 * picture.scale**2


def test_all_that_lies_there_is_taken_by_the_script_and_shown_in_the_docs() -> None:
    lying = {path.name for path in IMAGES.iterdir()}
    assert lying == {one.file for one in PICTURES}
    texts = {path: path.read_text() for path in (ROOT / "docs").glob("*.md")}
    texts[ROOT / "README.md"] = (ROOT / "README.md").read_text()
    named = {
        (path.parent / target).resolve()
        for path, text in texts.items()
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    }
    assert named == {(IMAGES / name).resolve() for name in lying}


def test_everything_that_can_be_clicked_or_sent_off_is_on_a_picture() -> None:
    """A modal may be named as the button that opens it: each is to be seen."""
    known = {
        ("callback_id" if name.endswith("_MODAL") else "action_id", value)
        for name, value in vars(ids).items()
        if name.isupper() and isinstance(value, str) and re.fullmatch(r"[a-z]+\.[a-z_]+", value)
    }
    named = {
        (kind, one[kind].partition(":")[0])
        for one in on_all_pictures()
        for kind in ("action_id", "callback_id")
        if kind in one
    }
    assert known - named == set()


def test_every_word_on_a_button_is_explained() -> None:
    said = set()
    for one in on_all_pictures():
        is_option = OPTION.fullmatch(one.get("action_id", "")) is not None
        if one.get("type") == "button" and not is_option:
            said.add(one["text"]["text"])
        if one.get("action_id", "").partition(":")[0] == ids.MORE:
            said |= {option["text"]["text"] for option in one["options"]}
    explained = set(re.findall(r"\*\*([^*]+)\*\*", DOCS))
    assert {COUNT.sub("", words) for words in said} - explained == set()
