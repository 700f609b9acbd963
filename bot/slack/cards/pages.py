"""All that a call would do, in pages: for what its card has no room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.slack.cards.arguments import Argument, with_preview
from bot.slack.cards.blocks import SECTION_LIMIT, Block, apart, fields, weigh
from bot.slack.cards.text import split

Page = tuple[Block, ...]

#: Nobody reads more, so that nobody is taken to have seen it.
PAGES_LIMIT: Final = 12
#: Of one page. What Slack takes of a modal it does not tell: no more than of a message, then.
_PAGE_LIMIT: Final = 9_000
_PAGE_BLOCKS: Final = 60


def pages_of(
    arguments: Sequence[Argument], preview: str | None = None, *, is_over: bool = False
) -> tuple[tuple[Page, ...], bool]:
    """The pages, at least one, and whether they show all that there is."""
    every = with_preview(arguments, preview, is_over=is_over)
    pages: list[list[Block]] = [[]]
    taken = 0
    for block in _blocks(every):
        weight = weigh([block])
        if pages[-1] and (taken + weight > _PAGE_LIMIT or len(pages[-1]) == _PAGE_BLOCKS):
            if len(pages) == PAGES_LIMIT:
                return _finished(pages), False
            pages.append([])
            taken = 0
        pages[-1].append(block)
        taken += weight
    return _finished(pages), all(one.is_whole for one in every)


def fits_in_pages(arguments: Sequence[Argument], preview: str | None = None) -> bool:
    """Do they show all that there is?"""
    is_looked_at = all(one.is_whole for one in with_preview(arguments, preview))
    return is_looked_at and pages_of(arguments, preview)[1]


def _blocks(every: Sequence[Argument]) -> Iterator[Block]:
    """What is short first, as on the card; what is long in pieces that say which they are."""
    yield from fields((one.title, one.beside) for one in every if one.is_short and one.name)
    for one in every:
        if one.is_short and one.name:
            continue
        pieces = split(one.text, SECTION_LIMIT)
        for number, piece in enumerate(pieces, 1):
            part = f" ({number} of {len(pieces)})" if len(pieces) > 1 else ""
            yield apart(f"{one.title}{part}", piece)


def _finished(pages: Sequence[Sequence[Block]]) -> tuple[Page, ...]:
    return tuple(map(tuple, pages))
