"""What each command that touches the store does around its own work."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agent.rules.ids import Principal
from bot.cli.console import note

if TYPE_CHECKING:
    from bot.compose import Opened

INTERRUPTED = 130


def with_store(
    work: Callable[[Opened], Coroutine[Any, Any, int]],
    *,
    reads_only: bool = False,
    begins: bool = False,
    config: Path | None = None,
) -> None:
    """Open the store that the settings name, do the work, close it; exit with what the work says.

    ``reads_only``: the work only looks; it changes nothing. ``begins``: where there is no store one is
    made; otherwise that is a mistake, since nothing is there to work on. ``config``: another file than the
    settings name."""
    _with_store(work, judges=not reads_only, only_looks=reads_only, begins=begins, config=config)


def listing_store(
    work: Callable[[Opened], Coroutine[Any, Any, int]], tell_none: Callable[[], None]
) -> None:
    """The same for a list, of which there may be nothing yet: where there is no store ``tell_none`` tells so, and
    where it was looked for is noted beside."""
    from agent.errors import NoStore

    try:
        with_store(work, reads_only=True)
    except NoStore as error:
        note(str(error))
        tell_none()


def tending_store(
    work: Callable[[Opened], Coroutine[Any, Any, int]], *, only_looks: bool = False
) -> None:
    """The same for work that changes how things are kept, and judges no call: it needs no MCP server, and what the
    file says at its beginning is enough. ``only_looks``: this time it changes nothing."""
    _with_store(work, judges=False, only_looks=only_looks)


def _with_store(
    work: Callable[[Opened], Coroutine[Any, Any, int]],
    *,
    judges: bool,
    only_looks: bool,
    begins: bool = False,
    config: Path | None = None,
) -> None:
    from bot.compose import opened
    from bot.settings import load_settings

    # What matters to whoever waits here is said by the command itself.
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")

    async def session() -> int:
        settings = load_settings()
        if config is not None:
            settings = settings.model_copy(update={"config": config})
        async with (
            opened(settings, judges=judges, only_looks=only_looks, must_exist=not begins) as house,
            house.reloading.going_on() if judges else nullcontext(),
        ):
            return await work(house)

    try:
        code = asyncio.run(session())
    except KeyboardInterrupt:
        note("Stopped looking. What was started or decided stays; `pilothouse runs` shows it.")
        code = INTERRUPTED
    raise typer.Exit(code)


def operator() -> Principal:
    """Whoever sits at this terminal, as the operating system knows them."""
    try:
        return Principal(f"cli:{getpass.getuser()}")
    except (KeyError, OSError):
        return Principal(f"cli:uid-{os.getuid()}")
