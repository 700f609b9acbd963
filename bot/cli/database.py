"""``db upgrade``, ``db check``: the database itself, whatever runs are in it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import typer

from bot.cli.console import say, say_json, so_far
from bot.cli.exits import Exit
from bot.cli.options import AsJson

if TYPE_CHECKING:
    from bot.compose import CheckedDatabase

db = typer.Typer(
    help="The database: brings its tables up to date, checks it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@db.command()
def upgrade(as_json: AsJson = False) -> None:
    """Bring the tables up to date, or wait for whoever is at it."""
    from bot.compose import upgrade_database
    from bot.settings import load_settings

    _log_little()
    before, after = asyncio.run(upgrade_database(load_settings()))
    if as_json:
        say_json({"before": before.step, "after": after.step})
    elif before.step == after.step:
        say(f"Nothing was to do: the tables are at step {after.step}.")
    elif before.step is None:
        say(f"The tables were made; they are at step {after.step}.")
    else:
        say(f"The tables are at step {after.step}; they were at {before.step}.")


@db.command()
def check(as_json: AsJson = False) -> None:
    """Say how the database stands, and change nothing: exit code 0 if all is well, else 1."""
    from bot.compose import check_database
    from bot.settings import load_settings

    _log_little()
    checked = asyncio.run(check_database(load_settings(), so_far("run")))
    if as_json:
        say_json(_shape(checked))
    else:
        for line in _lines(checked):
            say(line)
    raise typer.Exit(Exit.DONE if checked.is_fine else Exit.FAILED)


def _shape(checked: CheckedDatabase) -> dict[str, object]:
    from bot.build import BUILD

    tables, found = checked.tables, checked.differences
    return {
        "is_fine": checked.is_fine,
        "step": tables.step,
        "pending": list(tables.pending),
        "must_know": tables.must_know,
        "build": BUILD,
        "knows": tables.knows,
        "may_run": tables.may_run,
        "differences": None if found is None else list(found),
    }


def _lines(checked: CheckedDatabase) -> list[str]:
    from bot.build import BUILD

    tables = checked.tables
    ours = f"this build ({BUILD}) knows steps up to {tables.knows}"
    if tables.step is None:
        return [f"There are no tables yet; {ours}. To make them: pilothouse db upgrade"]
    lines = [f"The tables are at step {tables.step}; {ours}."]
    if tables.must_know is None:
        return [
            *lines,
            "No build may run here: the row of schema_floor that says which is gone, or names no step.",
        ]
    lines.append(f"Builds that know step {tables.must_know} may run here.")
    if not tables.may_run:
        return [*lines, "This one may not: start a newer build."]
    if tables.pending:
        steps = ", ".join(tables.pending)
        return [*lines, f"Not taken yet: {steps}. To take them: pilothouse db upgrade"]
    if not checked.differences:
        return [*lines, "What is kept beside the journals says what they say."]
    return [
        *lines,
        "What is kept beside the journals says something else:",
        *checked.differences,
        "To put right what can be: pilothouse recover. Where a journal can't be read: pilothouse verify",
    ]


def _log_little() -> None:
    """What matters to whoever waits here is said by the command itself."""
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
