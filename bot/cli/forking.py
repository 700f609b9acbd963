"""``fork`` and ``replay``: a journal taken up once more, by a new run or by this build's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console import say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.listing import table
from bot.cli.options import AsJson, RunArgument
from bot.cli.running import NoWait, finish, leave
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from agent.rules.replaying.replay import Difference
    from bot.compose import Opened


def fork(
    run: RunArgument,
    at: Annotated[
        int, typer.Option(min=1, metavar="SEQ", help="The last event that is taken over.")
    ],
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What is said to the new run.")
    ] = None,
    no_wait: NoWait = False,
    as_json: AsJson = False,
) -> None:
    """Begin a new run where another had come to; what had been done is history and never runs again."""
    if text is not None and not text.strip():
        raise typer.BadParameter("Say something, or leave it out.", param_hint="TEXT")

    async def begin(house: Opened) -> int:
        from agent.rules.ids import RunId

        forked = await house.runtime.fork(RunId(run), at, operator(), text=text)
        if no_wait:
            return await leave(house, forked, as_json=as_json)
        return await finish(house, forked, after=0, as_json=as_json)

    with_store(begin)


def replay(run: RunArgument, as_json: AsJson = False) -> None:
    """Go over a run's journal: would this version have taken the same steps?"""

    async def go_over(house: Opened) -> int:
        from dataclasses import asdict

        from agent.rules.ids import RunId

        differences = await house.runtime.replay(RunId(run))
        if as_json:
            say_json([asdict(one) for one in differences])
        elif differences:
            say_table(table(("SEQ", "FOUND", "EXPECTED"), _rows(differences)))
        else:
            say("The same: this version would have taken every step of it.")
        return Exit.FAILED if differences else Exit.DONE

    with_store(go_over, reads_only=True)


def _rows(differences: Sequence[Difference]) -> list[tuple[str, ...]]:
    return [(str(one.seq), one.found, one.expected) for one in differences]
