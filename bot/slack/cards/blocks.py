"""The pieces of Block Kit that our messages are made of, each within Slack's limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.slack.cards.text import measure, shorten, split

Block = dict[str, Any]

HEADER_LIMIT = 150
SECTION_LIMIT = 3000
FIELD_LIMIT = 2000
BUTTON_LIMIT = 75
CONFIRM_TITLE_LIMIT = 100
CONFIRM_LIMIT = 300
#: Slack refuses a message at about 12,000 characters in all its blocks, containers counted in
#: some way that it does not tell.
MESSAGE_LIMIT = 11_000
#: Slack takes no more of them in a message.
BLOCKS_LIMIT = 50
_CONTAINER_COST = 25

Style = Literal["primary", "danger"]
Quotation = Literal["rich_text_preformatted", "rich_text_quote"]


def mrkdwn(text: str) -> Block:
    """Our own words; data only where it was escaped. Mentions, links and dates are those that are written as
    such: an address within data stays text."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain(text: str, limit: int = SECTION_LIMIT) -> Block:
    """Data: shown as it is, without emoji names being read."""
    return {"type": "plain_text", "text": shorten(text, limit), "emoji": False}


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, HEADER_LIMIT)}


def section(text: str) -> Block:
    """Our own words."""
    return {"type": "section", "text": mrkdwn(text)}


def plain_section(text: str) -> Block:
    """Data, a line or a paragraph of it. Slack may read entities in plain text, so what could be one goes
    elsewhere."""
    if any(char in "&<>" for char in text):
        return lines([("", shorten(text, SECTION_LIMIT))])
    return {"type": "section", "text": plain(text)}


def fields(pairs: Iterable[tuple[str, str | Block]]) -> list[Block]:
    """Labels with short values beside them, five to a section. What is no block is data."""
    texts = [
        (_label(label), plain(value, FIELD_LIMIT) if isinstance(value, str) else value)
        for label, value in pairs
    ]
    return [
        {"type": "section", "fields": [one for pair in texts[start : start + 5] for one in pair]}
        for start in range(0, len(texts), 5)
    ]


def divider() -> Block:
    """A line between one thing and the next."""
    return {"type": "divider"}


def context(*elements: Block) -> Block:
    """Small print. At most ten elements."""
    return {"type": "context", "elements": list(elements)}


def apart(label: str, text: str, kind: Quotation = "rich_text_preformatted") -> Block:
    """Data that stands apart from our words, below a label if there is one; long text in several
    pieces."""
    heading: Block = {"type": "rich_text_section", "elements": [_literal(label, bold=True)]}
    return {
        "type": "rich_text",
        "elements": [
            *([heading] if label else []),
            *(
                {"type": kind, "elements": [_literal(piece)]}
                for piece in split(text, SECTION_LIMIT)
            ),
        ],
    }


def bold(text: str) -> Block:
    """Data as the title of what stands below it."""
    title = {"type": "rich_text_section", "elements": [_literal(text, bold=True)]}
    return {"type": "rich_text", "elements": [title]}


def lines(rows: Sequence[tuple[str, str]]) -> Block:
    """A line a row: our own words in bold, then data. At least one row."""
    elements: list[Block] = []
    for index, (words, data) in enumerate(rows, 1):
        elements += [_literal(words, bold=True)] if words else []
        elements.append(_literal(data + ("\n" if index < len(rows) else "")))
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": elements}],
    }


def button(
    text: str,
    action_id: str,
    value: str,
    *,
    about: str,
    style: Style | None = None,
    confirm: Block | None = None,
) -> Block:
    """A button; ``about`` is what a screen reader adds to its words, ``confirm`` what Slack asks first."""
    made: Block = {
        "type": "button",
        "action_id": action_id,
        "text": {"type": "plain_text", "text": text, "emoji": False},
        "value": value,
        "accessibility_label": shorten(f"{text}: {about}", BUTTON_LIMIT),
    }
    made |= {"style": style} if style else {}
    return made | ({"confirm": confirm} if confirm else {})


def confirmation(title: str, text: str, yes: str) -> Block:
    """What Slack asks before it sends a click: data, and the words of the button that does send it."""
    return {
        "title": plain(title, CONFIRM_TITLE_LIMIT),
        "text": plain(text, CONFIRM_LIMIT),
        "confirm": plain(yes, 30),
        "deny": plain("Cancel"),
    }


def overflow(action_id: str, options: Iterable[tuple[str, str]]) -> Block:
    """A menu of words, each with what Slack sends for them. At most five."""
    return {
        "type": "overflow",
        "action_id": action_id,
        "options": [{"text": plain(words, BUTTON_LIMIT), "value": sent} for words, sent in options],
    }


def select(action_id: str, options: Iterable[tuple[str, str]], *, placeholder: str) -> Block:
    """A list to choose one from: words, each with what Slack sends for them. At most a hundred."""
    return {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": plain(placeholder),
        "options": [{"text": plain(words, BUTTON_LIMIT), "value": sent} for words, sent in options],
    }


def actions(*buttons: Block) -> Block:
    return {"type": "actions", "elements": list(buttons)}


@dataclass(frozen=True, slots=True)
class Room:
    """What may stand in a message, or in a part of it."""

    weight: int
    blocks: int

    def __add__(self, other: Room) -> Room:
        return Room(self.weight + other.weight, self.blocks + other.blocks)

    def __sub__(self, other: Room) -> Room:
        return Room(self.weight - other.weight, self.blocks - other.blocks)

    def within(self, other: Room) -> Room:
        """No more than there is in either."""
        return Room(min(self.weight, other.weight), min(self.blocks, other.blocks))

    def at_least(self, other: Room) -> Room:
        """As much as there is in either."""
        return Room(max(self.weight, other.weight), max(self.blocks, other.blocks))

    def holds(self, other: Room) -> bool:
        return other.weight <= self.weight and other.blocks <= self.blocks


#: Of a message, without what is put around a card for the place where it stands: the way back to its thread or why it
#: is asked here, whom it calls, what was said since, that it is of a dry run.
CARD_ROOM = Room(MESSAGE_LIMIT - 1_300, BLOCKS_LIMIT - 4)


def room_of(blocks: Sequence[Block]) -> Room:
    """What they take."""
    return Room(weigh(blocks), len(blocks))


def weigh(blocks: Iterable[Block]) -> int:
    """What the blocks take of ``MESSAGE_LIMIT``."""
    return sum(_weigh(block) for block in blocks)


def _weigh(value: Any) -> int:
    if isinstance(value, dict):
        own = measure(value["text"]) if isinstance(value.get("text"), str) else 0
        return _CONTAINER_COST + own + sum(_weigh(inner) for inner in value.values())
    return sum(_weigh(inner) for inner in value) if isinstance(value, list) else 0


def _label(text: str) -> Block:
    """Bold where the label's own characters allow it."""
    is_simple = all(char.isalnum() or char in " .,()/-" for char in text) and text == text.strip()
    return mrkdwn(f"*{text}*") if is_simple else plain(text, FIELD_LIMIT)


def _literal(text: str, *, bold: bool = False) -> Block:
    element: Block = {"type": "text", "text": text}
    return element | ({"style": {"bold": True}} if bold else {})
