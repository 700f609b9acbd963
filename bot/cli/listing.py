"""``runs`` and ``unfinished``: lists, and how a list looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.plain import in_short, one_line
from bot.cli.session import listing_store

if TYPE_CHECKING:
    from rich.table import Table

    from agent.ports import RunRow
    from bot.compose import Opened

Limit = Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="At most so many.")]


def runs(limit: Limit = 20, as_json: AsJson = False) -> None:
    """The runs, newest first."""
    _list_runs(limit, as_json=as_json, none='No runs yet. Start one: pilothouse run "TEXT"')


def unfinished(limit: Limit = 1000, as_json: AsJson = False) -> None:
    """The runs that have not ended, newest first."""
    _list_runs(limit, active_only=True, as_json=as_json, none="No run is unfinished.")


def _list_runs(limit: int, *, active_only: bool = False, as_json: bool, none: str) -> None:
    async def tell(house: Opened) -> int:
        rows = await house.runtime.store.lists.runs(limit=limit, active_only=active_only)
        found = [await shape_of_row(house, row) for row in rows]
        say_list([shape for shape in found if shape is not None])
        return Exit.DONE

    def say_list(shapes: Sequence[dict[str, Any]]) -> None:
        if as_json:
            say_json(shapes)
        elif not shapes:
            say(none)
        else:
            say_runs(shapes)

    listing_store(tell, lambda: say_list([]))


def say_runs(shapes: Sequence[dict[str, Any]]) -> None:
    """A line a run."""
    say_table(table(_RUN_COLUMNS, [_run_cells(shape) for shape in shapes]))


#: Of a prompt; whole it is in `show`.
_ASKED_LIMIT = 100
_RUN_COLUMNS = ("RUN", "AGENT", "STATUS", "STARTED", "ASKED")


async def shape_of_row(house: Opened, row: RunRow) -> dict[str, Any] | None:
    """The run of this row; one that can't be read is shown as blocked and hides no other. None for one of which
    everything has been removed since."""
    from agent.errors import CorruptJournal, Purged, UnknownEvent
    from bot.cli.reading import shape_of, unreadable_shape

    try:
        return await shape_of(house, await house.runtime.state(row.run_id))
    except (CorruptJournal, UnknownEvent) as error:
        return unreadable_shape(row, error)
    except Purged:
        return None


def _run_cells(shape: dict[str, Any]) -> tuple[str, ...]:
    from bot.cli.names import show_minute_of

    started = show_minute_of(shape.get("started_at"))
    asked = in_short(
        shape.get("prompt") or (shape["blocked"] or {}).get("message", ""), _ASKED_LIMIT
    )
    return shape["id"], shape["agent"], shape["status"], started, asked


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Ids in full, so that they can be copied; the last column is folded into what is left."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        is_last = index == len(columns) - 1
        table.add_column(column, no_wrap=not is_last, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table
