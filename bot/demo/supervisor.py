"""``pilothouse demo``: a local Slack and some bots, from one command, ended together."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import webbrowser
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import PilothouseError
from bot import settings
from bot.demo.child import Child, environment
from bot.demo.folder import SANDBOX, held_folder
from bot.demo.tether import Tether
from bot.demo.tour import TOUR
from bot.models import DEMO
from bot.sandbox.app import PortTaken, RunningSandbox
from bot.sandbox.persistence import StateFileUnreadable
from bot.sandbox.state import Sandbox
from bot.settings import DEMO_CONFIG
from bot.slack.subscribed import SHORTCUTS, SUBSCRIBED
from bot.together import begin, end, stop_signals, until_stopped

Say = Callable[[str], None]

#: For the bots to finish what they are doing, with all the time that each of their parts may take;
#: then they are killed.
END_SECONDS = 30.0
#: Longer than any start that goes well.
PATIENCE_SECONDS = 30.0


class CannotStart(PilothouseError):
    """The demo can't start; its text says why."""

    code = "cannot_start"


@dataclass(frozen=True, slots=True)
class Demo:
    """How the demo was asked for."""

    port: int
    bots: int
    data: Path
    fresh: bool
    browser: bool
    #: Whose agents and policy; ``model`` replaces those of its agents.
    config: Path = DEMO_CONFIG
    model: str | None = None

    @property
    def is_its_own(self) -> bool:
        """Is it the demo's own agent that is shown?"""
        return self.config == DEMO_CONFIG


async def run_demo(demo: Demo, say: Say) -> None:
    """Until it is told to stop. Raises ``CannotStart``, ``FolderInUse``, ``CannotServe``."""
    with stop_signals() as stop, held_folder(demo.data, fresh=demo.fresh) as folder:
        async with AsyncExitStack() as stack:
            sandbox = await _open_sandbox(stack, demo, folder)
            await _run_bots(demo, sandbox, say, stop)
    say("The demo has ended. What waits stays; start it again to go on.")


async def _open_sandbox(stack: AsyncExitStack, demo: Demo, folder: Path) -> RunningSandbox:
    # Told of no more than Slack would tell it: what the manifest lacks is missed here, too.
    tour = TOUR if demo.is_its_own else ()
    inside = Sandbox(state_file=folder / SANDBOX, events=SUBSCRIBED, tour=tour, shortcuts=SHORTCUTS)
    try:
        return await stack.enter_async_context(RunningSandbox(inside, port=demo.port))
    except PortTaken as error:
        raise CannotStart(
            f"Port {error.port} on 127.0.0.1 is taken. Nothing was started; choose another, for "
            f"example: --port {error.port + 1}"
        ) from error
    except StateFileUnreadable as error:
        raise CannotStart(f"{error}; or begin anew with --fresh.") from error


async def _run_bots(demo: Demo, sandbox: RunningSandbox, say: Say, stop: asyncio.Event) -> None:
    # Also what stands in a .env here: the bots, which begin in another folder, would not find it.
    inherited = settings.environment()
    given = environment(inherited, demo.data, sandbox.api_url, demo.config, demo.model)
    with Tether() as tether:
        children = [
            Child(number, demo.data, given, tether.fd, say) for number in range(1, demo.bots + 1)
        ]
        tasks = begin({f"bot {n}": child.run() for n, child in enumerate(children, 1)})
        greeting = asyncio.create_task(_greet(demo, sandbox, children, say))
        try:
            await until_stopped(tasks, stop)
        finally:
            greeting.cancel()
            await asyncio.gather(greeting, return_exceptions=True)
            await _end_children(children, tasks)


async def _end_children(children: list[Child], tasks: list[asyncio.Task[None]]) -> None:
    for child in children:
        child.ask_to_end()
    with suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await asyncio.gather(*(child.ended() for child in children))
    await end(tasks)


#: What the demo's bots have of their own, whatever the environment says.
_OF_ITS_OWN = ("PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_LISTEN_URL")


async def _greet(demo: Demo, sandbox: RunningSandbox, children: list[Child], say: Say) -> None:
    """Say where the page is once every bot is ready."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await _all_ready(children)
    except TimeoutError:
        say(f"The bots are not ready yet; their logs are {demo.data}/bot-*.log")
        await _all_ready(children)
    command = Path(sys.executable).with_name("pilothouse")
    ignored = [name for name in _OF_ITS_OWN if name in os.environ]
    if ignored:
        say(f"the demo has its own store: {' and '.join(ignored)} is not used")
    without = [word for name in ignored for word in ("-u", name)]
    config = [] if demo.is_its_own else [f"PILOTHOUSE_CONFIG={demo.config}"]
    words = ["env", *without, *config, f"PILOTHOUSE_DATA={demo.data}", str(command), "runs"]
    say(f"the same by command line: {shlex.join(words)}")
    if not demo.is_its_own:
        say(f"agents and policy: {demo.config}; what their tools do is really done")
    if demo.model not in (None, DEMO):
        say(f"its model is {demo.model}, and what it is asked is paid for")
    say(f"Pilothouse is ready: {sandbox.url}/   (Ctrl-C ends it)")
    if demo.browser and _has_display():
        await asyncio.to_thread(webbrowser.open, f"{sandbox.url}/")


async def _all_ready(children: list[Child]) -> None:
    for child in children:
        await child.is_ready.wait()


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
