"""``runs``, ``unfinished`` and ``approvals``: lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import note, say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.plain import in_short, one_line
from bot.cli.session import with_store

if TYPE_CHECKING:
    from rich.table import Table

    from agent.ports import RunRow
    from agent.rules.ids import RunId
    from agent.rules.state import Approval, RunState
    from bot.compose import Opened

Limit = Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")]


def runs(limit: Limit = 20, as_json: AsJson = False) -> None:
    """The runs, newest first."""
    none = 'No runs yet. Start one: pilothouse run "TEXT"'
    with_store(lambda house: _tell_runs(house, limit, as_json=as_json, none=none), reads_only=True)


def unfinished(limit: Limit = 1000, as_json: AsJson = False) -> None:
    """The runs that have not ended, newest first."""
    none = "No run is unfinished."
    with_store(
        lambda house: _tell_runs(house, limit, active_only=True, as_json=as_json, none=none),
        reads_only=True,
    )


async def _tell_runs(
    house: Opened, limit: int, *, active_only: bool = False, as_json: bool, none: str
) -> int:
    rows = await house.runtime.store.lists.runs(limit=limit, active_only=active_only)
    shapes = [await shape_of_row(house, row) for row in rows]
    if as_json:
        say_json(shapes)
    elif not shapes:
        say(none)
    else:
        say_runs(shapes)
    return Exit.DONE


def say_runs(shapes: Sequence[dict[str, Any]]) -> None:
    """A line a run."""
    say_table(table(_RUN_COLUMNS, [_run_cells(shape) for shape in shapes]))


def approvals(
    limit: Limit = 50,
    everything: Annotated[
        bool, typer.Option("--all", help="Those that are decided already, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """What waits for a person, oldest first."""

    async def tell(house: Opened) -> int:
        from agent.rules.shapes import approval_shape

        found = await _asked(house, limit, waiting_only=not everything)
        if as_json:
            say_json([approval_shape(approval, state) for approval, state in found])
        elif not found:
            say("Nothing waits for anybody.")
        else:
            rows = [_approval_cells(approval, state) for approval, state in found]
            say_table(table(_APPROVAL_COLUMNS, rows))
        return Exit.DONE

    with_store(tell, reads_only=True)


#: Of a prompt; whole it is in `show`.
_ASKED_LIMIT = 100
_RUN_COLUMNS = ("RUN", "AGENT", "STATUS", "STARTED", "ASKED")
_APPROVAL_COLUMNS = ("APPROVAL", "STATUS", "WHAT IS ASKED")


def _approval_cells(approval: Approval, state: RunState) -> tuple[str, ...]:
    from agent.rules.undecided import is_to_be_asked_again
    from bot.cli.asking import how_to_decide, what_is_asked

    asked = what_is_asked(approval, state)
    if is_to_be_asked_again(state, approval):
        asked = f"{asked} {how_to_decide(approval, state)}"
    return approval.id, approval.status, asked


async def _asked(
    house: Opened, limit: int, *, waiting_only: bool
) -> list[tuple[Approval, RunState]]:
    """Each with its run; one whose run can't be read is named and hides no other."""
    from agent.asked import find_asked, rows_of_asked
    from agent.errors import CorruptJournal, UnknownEvent

    lists = house.runtime.store.lists
    found: list[tuple[Approval, RunState]] = []
    states: dict[RunId, RunState] = {}
    for row in await rows_of_asked(lists, limit, waiting_only=waiting_only):
        try:
            if row.run_id not in states:
                states[row.run_id] = await house.runtime.state(row.run_id)
        except (CorruptJournal, UnknownEvent) as error:
            note(f"{row.approval_id} can't be shown. {error}")
            continue
        state = states[row.run_id]
        approval = find_asked(state, row.approval_id, waiting_only=waiting_only)
        if approval is not None:
            found.append((approval, state))
    return found[:limit]


async def shape_of_row(house: Opened, row: RunRow) -> dict[str, Any]:
    """The run of this row; one that can't be read is shown as blocked and hides no other."""
    from agent.errors import CorruptJournal, UnknownEvent
    from bot.cli.reading import shape_of, unreadable_shape

    try:
        return await shape_of(house.runtime, await house.runtime.state(row.run_id))
    except (CorruptJournal, UnknownEvent) as error:
        return unreadable_shape(row, error)


def _run_cells(shape: dict[str, Any]) -> tuple[str, ...]:
    started = str(shape.get("started_at") or "")[:16].replace("T", " ")
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
