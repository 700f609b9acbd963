"""What a call would do: its arguments, as people see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from pydantic import JsonValue

from agent.rules.json_text import dump_text
from agent.rules.secret_texts import MASK
from agent.rules.secrets import hide_secrets
from agent.rules.values import Field, describe_fields, lay_out, read_moment
from bot.slack.cards.blocks import Block, Room, apart, context, fields, mrkdwn, room_of
from bot.slack.cards.mentions import to_the_second
from bot.slack.cards.mixed import mixed_words
from bot.slack.cards.text import beginning, escape, measure, one_line, shorten, show

#: For all arguments and the preview together; the rest of the message needs room too.
SHOWN_ROOM = Room(7_000, 40)
WILL_HAPPEN = "What will happen"
_SHORT_VALUE = 200
_EXCERPT = 1_000
#: Named of the words that mix alphabets.
_MIXED_WORDS = 3
_MIXED_ROOM = 400
_LOOK_ALIKE = "Letters of several alphabets, or among digits, stand in one word, and may look alike"
#: On one line: so much of each, so many of them, and so much of all.
_TOLD = 60
_TOLD_OF = 6
_SUMMARY_LIMIT = 240
#: For the rows that say what was changed.
_CHANGES_ROOM = 2_400
#: What Slack shows as a date, in seconds.
_MOMENTS = range(10**10)
#: Never looked at beyond: it could not be shown in a message or a modal anyway.
LOOKED_AT = 40_000


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument in words."""

    name: str
    title: str
    text: str
    is_masked: bool
    has_hidden: bool
    #: False: the end of it is not in ``text``, and nobody has looked at it.
    is_whole: bool = True
    #: What it names, if that is a moment.
    moment: datetime | None = None
    is_money: bool = False

    @property
    def is_short(self) -> bool:
        """Fits beside its label. Slack may read entities in a field, so those go elsewhere."""
        return (
            len(self.text) <= _SHORT_VALUE
            and measure(self.text) <= _SHORT_VALUE
            and not any(char in "&<>\n" for char in self.text)
        )

    @property
    def beside(self) -> str | Block:
        """What stands beside its label: a moment also as the reader's own clock shows it."""
        if self.moment is None or self.is_masked:
            return self.text
        return mrkdwn(f"{to_the_second(self.moment)} ({escape(self.text)})")


def describe_arguments(
    args: Mapping[str, JsonValue],
    parameters: Mapping[str, Any],
    *,
    looked_at: int | None = LOOKED_AT,
) -> tuple[Argument, ...]:
    """Every argument, in the order of the tool's JSON schema; ``looked_at``: at most so much of each, None: all."""
    known = {field.name: field for field in describe_fields(parameters)}
    order = [*(name for name in known if name in args), *(n for n in args if n not in known)]
    return tuple(
        _describe(name, known.get(name), args[name], parameters, looked_at) for name in order
    )


def argument_blocks(
    arguments: Sequence[Argument],
    preview: str | None = None,
    *,
    room: Room = SHOWN_ROOM,
    is_over: bool = False,
) -> tuple[list[Block], bool]:
    """The blocks, and whether they show all that there is; no more than there is ``room`` for, nor than is read."""
    room = room.within(SHOWN_ROOM)
    every = with_preview(arguments, preview, is_over=is_over)
    short = [one for one in every if one.is_short and one.name]
    long = [one for one in every if not one.is_short or not one.name]
    if all(one.is_whole and len(one.text) <= room.weight for one in every):
        blocks = fields((one.title, one.beside) for one in short)
        blocks += [apart(one.title, one.text) for one in long]
        if room.holds(room_of(blocks)):
            return blocks, True
    return _excerpt(short, long, room), False


def with_preview(
    arguments: Sequence[Argument],
    preview: str | None,
    *,
    is_over: bool = False,
    looked_at: int | None = LOOKED_AT,
) -> list[Argument]:
    """All that a yes is a yes to. What the tool said of it has no name, only a title."""
    label = "What was to happen" if is_over else WILL_HAPPEN
    return [*arguments, *([_argument("", label, preview, looked_at)] if preview else [])]


def notes(
    arguments: Sequence[Argument], preview: str | None = None, *, is_over: bool = False
) -> list[Block]:
    """What a reader must know of what they see; ``is_over``: nothing is left to be done with it."""
    return [context(mrkdwn(words)) for words in warnings(arguments, preview, is_over=is_over)]


def warnings(
    arguments: Sequence[Argument], preview: str | None = None, *, is_over: bool = False
) -> Iterator[str]:
    """The same as words alone, in mrkdwn."""
    every = with_preview(arguments, preview)
    if any(one.is_masked for one in every):
        used = "" if is_over else "; the real values are used"
        yield f"🔒 Secrets are masked here as {MASK}{used}."
    if any(one.has_hidden for one in every):
        yield "⚠️ Hidden characters are written as ⟦U+…⟧."
    if mixed := list(islice(_mixed(every), _MIXED_WORDS)):
        yield f"⚠️ {_LOOK_ALIKE}: {escape(shorten('; '.join(mixed), _MIXED_ROOM))}"


def _mixed(every: Sequence[Argument]) -> Iterator[str]:
    for one in every:
        yield from mixed_words(one.text, _MIXED_WORDS)


def summarize(arguments: Sequence[Argument]) -> str:
    """The values on one line, for a notification."""
    shown = arguments
    if len(arguments) > _TOLD_OF:
        # What it costs is not left out.
        shown = sorted(arguments, key=lambda one: not one.is_money)[:_TOLD_OF]
    told = shorten(", ".join(one_line(one.text, _TOLD) for one in shown), _SUMMARY_LIMIT)
    more = len(arguments) - len(shown)
    return f"{told}; and {more} more" if more else told


def is_summary_whole(arguments: Sequence[Argument], limit: int) -> bool:
    """Are these few and short enough for ``summarize`` to leave nothing out, and to take ``limit`` at most?"""
    is_each_whole = all(one.is_whole and one_line(one.text, _TOLD) == one.text for one in arguments)
    return (
        is_each_whole
        and len(arguments) <= _TOLD_OF
        and measure(summarize(arguments)) <= min(limit, _SUMMARY_LIMIT)
    )


def changed_arguments(
    before: Mapping[str, JsonValue],
    after: Mapping[str, JsonValue],
    parameters: Mapping[str, Any],
) -> list[tuple[str, str]]:
    """What differs: its title, and ``old → new`` in words."""
    old = {one.name: one.text for one in describe_arguments(before, parameters)}
    changed = {name: value for name, value in after.items() if differs(before.get(name), value)}
    rows = describe_arguments(changed, parameters)
    room = max(_CHANGES_ROOM // max(len(rows), 1) // 2, 60)
    return [(one.title, _change(old.get(one.name, "none"), one, room)) for one in rows]


def differs(old: JsonValue, new: JsonValue) -> bool:
    """Are these two values? As JSON tells them apart, to which 1 is not true."""
    return dump_text(old) != dump_text(new)


def _change(old: str, new: Argument, room: int) -> str:
    """``old → new``: of long text from a little before where it differs, and never the same on both sides."""
    unlike = (n for n, (a, b) in enumerate(zip(old, new.text, strict=False)) if a != b)
    alike = next(unlike, min(len(old), len(new.text)))
    if old == new.text:
        why = "another one" if new.is_whole else "otherwise further on"
        return f"{shorten(old, room)} → {shorten(new.text, room)} ({why})"
    if alike > room // 2 and max(measure(old), measure(new.text)) > room:
        start = alike - room // 4
        return f"…{shorten(old[start:], room)} → …{shorten(new.text[start:], room)}"
    return f"{shorten(old, room)} → {shorten(new.text, room)}"


def _describe(
    name: str,
    field: Field | None,
    value: JsonValue,
    parameters: Mapping[str, Any],
    looked_at: int | None,
) -> Argument:
    title = one_line(field.title if field else name, 120)
    hidden = hide_secrets({name: value}, parameters)[name]
    described = _argument(name, title, lay_out({name: hidden}, parameters)[name], looked_at)
    described = replace(described, is_masked=described.is_masked or hidden != value)
    if field is not None and field.kind == "money":
        return replace(described, is_money=True)
    at = read_moment(value) if field is not None and field.kind == "datetime" else None
    return replace(described, moment=at) if at and int(at.timestamp()) in _MOMENTS else described


def _argument(name: str, title: str, text: str, looked_at: int | None) -> Argument:
    """What is too long to be looked at is not taken for all, however short its beginning is once it
    is masked."""
    is_whole = looked_at is None or len(text) <= looked_at
    shown = show(text if looked_at is None else beginning(text, looked_at))
    return Argument(name, title, shown.text, shown.is_masked, shown.has_hidden, is_whole)


def _excerpt(short: Sequence[Argument], long: Sequence[Argument], room: Room) -> list[Block]:
    """As many of them as can be shown, each only in part where it is long."""
    blocks = [
        *fields((one.title, one.beside) for one in short[:20]),
        *(apart(one.title, shorten(one.text, _EXCERPT)) for one in long[:5]),
    ]
    while blocks and not room.holds(room_of(blocks)):
        blocks.pop()
    return blocks
