"""``db sizes``, ``db purge``: how much there is, and what has been kept long enough goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.rules.counted import counted
from bot.cli.console import say, say_json
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.session import operator, tending_store, with_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.housekeeping import Swept
    from agent.ports.purges import Sizes
    from bot.compose import Opened

_NO_RETENTION = "There is no retention in pilothouse.yml: everything is kept."


def sizes(as_json: AsJson = False) -> None:
    """How much there is: runs, events, bytes, and what retention would remove now."""

    async def tell(house: Opened) -> int:
        found = await house.runtime.store.purges.sizes(house.retention)
        if as_json:
            say_json(_sizes_shape(found))
        else:
            for line in _sizes_lines(found, keeps_all=house.retention.keeps_all):
                say(line)
        return Exit.DONE

    with_store(tell, reads_only=True)


def purge(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go; nothing is removed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what has been kept for as long as retention says. Bots do it by themselves."""

    async def remove(house: Opened) -> int:
        from agent.housekeeping import Housekeeping

        housekeeping = Housekeeping(house.runtime.store, lambda: house.retention, operator())
        swept = await (housekeeping.preview() if dry_run else housekeeping.sweep())
        if as_json:
            shape = {"removed": dict(swept.removed), "kept": dict(swept.spared)}
            say_json({"dry_run": dry_run, **shape})
        else:
            for line in _swept_lines(swept, dry_run=dry_run, keeps_all=house.retention.keeps_all):
                say(line)
        return Exit.DONE

    tending_store(remove, only_looks=dry_run)


def _swept_lines(swept: Swept, *, dry_run: bool, keeps_all: bool) -> list[str]:
    from agent.housekeeping import in_words

    if swept.removed:
        lines = [f"{'Would remove' if dry_run else 'Removed'}: {in_words(swept.removed)}."]
    else:
        lines = [_NO_RETENTION if keeps_all else "Nothing is old enough to be removed."]
    for why, count in sorted(swept.spared.items()):
        lines.append(f"Kept, though old enough: {counted(count, 'run')}, for {why}.")
    return lines


def _sizes_shape(found: Sizes) -> dict[str, Any]:
    oldest = found.oldest
    return {
        "runs": dict(found.runs),
        "removed": dict(found.removed),
        "events": found.events,
        "control_events": found.control_events,
        "messages": found.messages,
        "bytes": dict(found.bytes),
        "oldest": None if oldest is None else oldest.isoformat().replace("+00:00", "Z"),
        "due": dict(found.due),
    }


def _sizes_lines(found: Sizes, *, keeps_all: bool) -> list[str]:
    from agent.housekeeping import in_words

    sizes = {name: _bytes(size) for name, size in found.bytes.items()}
    lines = [
        f"runs      {sum(found.runs.values()):,}: {_counts(found.runs) or 'none'}",
        f"events    {found.events:,}, {sizes['events']}",
        f"control   {counted(found.control_events, 'event')}, {sizes['control_events']}",
        f"messages  {found.messages:,}",
        f"database  {sizes['database']}"
        + (f", {sizes['free']} of it free" if "free" in sizes else "")
        + (f", {sizes['log']} in its log" if found.bytes.get("log") else ""),
    ]
    if found.oldest is not None:
        lines.append(f"oldest    run of {found.oldest:%Y-%m-%d %H:%M} UTC")
    if any(found.removed.values()):
        lines.append(f"removed   {in_words(found.removed)}")
    if keeps_all:
        return [*lines, _NO_RETENTION]
    due = in_words(found.due)
    return [
        *lines,
        f"due now   {due or 'nothing'}" + (" (some may be needed still)" if due else ""),
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))


def _bytes(size: int) -> str:
    amount, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1_000:
            break
        amount, unit = amount / 1_000, larger
    return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
