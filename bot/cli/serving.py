"""``demo`` and ``serve``: what runs until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.console import say

Port = Annotated[
    int, typer.Option(metavar="PORT", min=0, max=65_535, help="Where the sandbox listens.")
]


def demo(
    port: Port = 3333,
    bots: Annotated[
        int, typer.Option(metavar="N", min=1, max=10, help="How many bot processes.")
    ] = 2,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where it keeps its files.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier demos in DIR.")] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
) -> None:
    """Try it: a local Slack and some bots, with no workspace and no key. PILOTHOUSE_CONFIG=FILE: with agents of
    one's own."""
    from bot.demo.supervisor import Demo, run_demo
    from bot.models import check_model
    from bot.settings import demo_folder, load_settings

    settings = load_settings()
    if settings.model is not None:
        check_model(settings.model)
    folder = data.expanduser().absolute() if data else demo_folder(settings)
    wanted = Demo(port, bots, folder, fresh, not no_browser, settings.config, settings.model)
    asyncio.run(run_demo(wanted, say))


def serve(
    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65_535, help="Where HTTP listens; 0 takes a free port."
        ),
    ] = None,
    parent_fd: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """One bot process: Slack, worker, threads, health."""
    from bot.demo.tether import end_with_parent

    if parent_fd is not None:
        end_with_parent(parent_fd)

    from bot import process
    from bot.settings import load_settings

    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # A bot of the demo's is told everything by its environment: a .env beside its file is for a real one.
    settings = load_settings(reads_files=parent_fd is None)
    if port is not None:
        settings = settings.model_copy(update={"http_port": port})
    asyncio.run(process.serve(settings, _say_bot))


def _say_bot(process_id: str, host: str, port: int) -> None:
    """The demo reads this line; keep it in step with ``bot.demo.child``."""
    shown = f"[{host}]" if ":" in host else host
    say(f"bot {process_id} listens on http://{shown}:{port}")
