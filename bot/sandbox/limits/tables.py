"""Limits of the two tables."""

from __future__ import annotations

from typing import Any

from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import OBJECTS
from bot.sandbox.limits.rich_text import check_rich_text
from bot.sandbox.wire import Json

ROWS = 100
COLUMNS = 20
#: Besides the header. Slack's page has said 100 before, and a newer library 200.
DATA_ROWS = 200
CELLS_TEXT = 10_000
CELL_TYPES = ("raw_text", "raw_number", "rich_text")


def check_table(problems: Problems, block: Json, pointer: str) -> None:
    rows = _rows(problems, block, pointer, ROWS, least=1)
    _check_cells(problems, rows, f"{pointer}/rows")
    given = block.get("column_settings")
    if given is None:
        return
    # A column that keeps Slack's own settings may be given as null.
    settings = [{} if one is None else one for one in given] if isinstance(given, list) else given
    found = problems.items({"column_settings": settings}, "column_settings", pointer, COLUMNS)
    for index, setting in enumerate(found):
        place = f"{pointer}/column_settings/{index}"
        problems.only(setting, place, OBJECTS["column_setting"])
        problems.optional_one_of(setting, "align", place, ("left", "center", "right"))


def check_data_table(problems: Problems, block: Json, pointer: str) -> None:
    problems.required_length(block, "caption", pointer, 3000)
    problems.number(block, "page_size", pointer, 1, 100)
    problems.number(block, "row_header_column_index", pointer, 0, COLUMNS - 1)
    rows = _rows(problems, block, pointer, DATA_ROWS + 1, least=2)
    _check_cells(problems, rows, f"{pointer}/rows")
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            problems.add(f"{pointer}/rows/{index}", "all rows must have the same number of cells")
    for at, cell in enumerate(rows[0] if rows else []):
        if isinstance(cell, dict) and cell.get("type") == "rich_text":
            problems.add(f"{pointer}/rows/0/{at}/type", "must be one of raw_text, raw_number")


def _rows(
    problems: Problems, block: Json, pointer: str, most: int, *, least: int
) -> list[list[Any]]:
    rows = block.get("rows")
    if not isinstance(rows, list):
        problems.missing(pointer, "rows")
        return []
    problems.count(rows, f"{pointer}/rows", most, least=least)
    for index, row in enumerate(rows):
        if not isinstance(row, list):
            problems.add(f"{pointer}/rows/{index}", "must be an array")
        else:
            problems.count(row, f"{pointer}/rows/{index}", COLUMNS)
    return [row for row in rows if isinstance(row, list)]


def _check_cells(problems: Problems, rows: list[list[Any]], pointer: str) -> None:
    length = 0
    for index, row in enumerate(rows):
        for at, cell in enumerate(row):
            place = f"{pointer}/{index}/{at}"
            if not isinstance(cell, dict):
                problems.add(place, "must provide an object")
            elif cell.get("type") == "rich_text":
                check_rich_text(problems, cell, place)
            else:
                problems.one_of(cell, "type", place, CELL_TYPES)
                problems.only(cell, place, OBJECTS["raw_number"])
                problems.length(cell.get("text"), f"{place}/text", CELLS_TEXT)
            length += text_length(cell)
    if length > CELLS_TEXT:
        problems.add(pointer, f"no more than {CELLS_TEXT} characters allowed in all cells")


def text_length(value: Any) -> int:
    """Characters of everything called `text` in a structure."""
    if isinstance(value, list):
        return sum(text_length(one) for one in value)
    if not isinstance(value, dict):
        return 0
    own = value.get("text")
    inner = sum(text_length(one) for one in value.values())
    return inner + (len(own) if isinstance(own, str) else 0)
