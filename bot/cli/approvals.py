"""``approvals``: what waits for people, or whatever they were ever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console import note, say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.listing import Limit, table
from bot.cli.options import AsJson
from bot.cli.session import listing_store

if TYPE_CHECKING:
    from agent.rules.ids import RunId
    from agent.rules.state import Approval, RunState
    from bot.compose import Opened

_COLUMNS = ("APPROVAL", "KIND", "SINCE", "UNTIL", "WHO", "COMMAND", "WHAT IS ASKED")
_COLUMNS_OF_ALL = ("APPROVAL", "KIND", "SINCE", "WHAT BECAME OF IT", "WHAT IS ASKED")
#: Of those who may decide, in the table.
_WHO_LIMIT = 60
#: So many are counted beyond those that are listed: what a list costs does not grow with what was ever decided.
COUNTED = 10_000


def approvals(
    limit: Limit = 50,
    everything: Annotated[
        bool, typer.Option("--all", help="Those that are decided already, too; newest first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """What waits for a person, oldest first."""

    def tell_none() -> None:
        if as_json:
            say_json([])
        else:
            say("Nobody was ever asked." if everything else "Nothing waits for anybody.")

    async def tell(house: Opened) -> int:
        from agent.rules.shapes import approval_shape

        found, more = await _asked(house, limit, waiting_only=not everything)
        if not found:
            tell_none()
        elif as_json:
            say_json([approval_shape(approval, state) for approval, state in found])
        else:
            columns, cells = (_COLUMNS_OF_ALL, _cells_of_all) if everything else (_COLUMNS, _cells)
            say_table(table(columns, [cells(approval, state) for approval, state in found]))
            if more:
                say(f"… and {more} more; to see more of them: --limit N")
        return Exit.DONE

    listing_store(tell, tell_none)


def _cells(approval: Approval, state: RunState) -> tuple[str, ...]:
    from bot.cli.asking import asked_in_short, command_for, kind_in_words
    from bot.cli.names import show_minute, whom_it_waits_for
    from bot.cli.plain import in_short

    until = show_minute(approval.requested.expires_at) or "-"
    return (
        approval.id,
        kind_in_words(approval),
        show_minute(approval.requested_at),
        f"{until}, over" if approval.status == "expired" else until,
        in_short(whom_it_waits_for(approval, state), _WHO_LIMIT),
        command_for(approval, state),
        asked_in_short(approval, state),
    )


def _cells_of_all(approval: Approval, state: RunState) -> tuple[str, ...]:
    from bot.cli.asking import asked_in_short, kind_in_words
    from bot.cli.names import show_minute, what_became_of

    return (
        approval.id,
        kind_in_words(approval),
        show_minute(approval.requested_at),
        what_became_of(approval),
        asked_in_short(approval, state),
    )


async def _asked(
    house: Opened, limit: int, *, waiting_only: bool
) -> tuple[list[tuple[Approval, RunState]], str]:
    """Each with its run, and how many there are beyond ``limit`` ("" for none); one whose run can't be read is
    named and hides no other."""
    from agent.asked import find_asked, rows_of_asked
    from agent.errors import CorruptJournal, NotFound, UnknownEvent

    lists = house.runtime.store.lists
    found: list[tuple[Approval, RunState]] = []
    states: dict[RunId, RunState] = {}
    rows = await rows_of_asked(
        lists, limit, waiting_only=waiting_only, newest_first=not waiting_only
    )
    listed = sum(row.status == "pending" or not waiting_only for row in rows)
    for row in rows:
        try:
            if row.run_id not in states:
                states[row.run_id] = await house.runtime.state(row.run_id)
        except (CorruptJournal, UnknownEvent, NotFound) as error:
            note(f"{row.approval_id} can't be shown. {error}")
            continue
        state = states[row.run_id]
        approval = find_asked(state, row.approval_id, waiting_only=waiting_only)
        if approval is not None:
            found.append((approval, state))
    counted = await lists.count_approvals(at_most=listed + COUNTED + 1, pending_only=waiting_only)
    unlisted = max(counted - listed, 0)
    if unlisted > COUNTED:
        return found[:limit], f"more than {COUNTED:,}"
    more = max(len(found) - limit, 0) + unlisted
    return found[:limit], f"{more:,}" if more else ""
