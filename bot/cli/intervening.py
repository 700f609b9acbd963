"""``hold`` and ``stop``: a run pauses, or ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console import note
from bot.cli.exits import Exit
from bot.cli.options import AsJson, RunArgument
from bot.cli.running import finish
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from agent.rules.ids import RunId
    from agent.rules.state import RunState
    from agent.runtime import Runtime

Reason = Annotated[str | None, typer.Option(help="Shown to whoever looks at the run.")]


def hold(run: RunArgument, reason: Reason = None, as_json: AsJson = False) -> None:
    """Pause a run: what has begun ends, and nothing new begins until it is resumed."""
    _intervene(
        run,
        lambda runtime, run_id: runtime.hold(run_id, operator(), reason),
        done=Exit.WAITING,
        as_json=as_json,
    )


def stop(run: RunArgument, reason: Reason = None, as_json: AsJson = False) -> None:
    """End a run: nothing new begins, and what has begun is waited for."""
    _intervene(
        run,
        lambda runtime, run_id: runtime.stop(run_id, operator(), reason),
        done=Exit.CANCELLED,
        as_json=as_json,
    )


def _intervene(run: str, act: Act, *, done: Exit, as_json: bool) -> None:
    """Where the run has come to what was wanted (``done``), the command has done its work."""

    async def intervene(house: Opened) -> int:
        from agent.rules.ids import RunId

        before = await house.runtime.state(RunId(run))
        state = await act(house.runtime, before.run_id)
        if not as_json and state.seq == before.seq:
            note(_is_so_already(before))
        code = await finish(house, state.run_id, after=before.seq, as_json=as_json)
        return Exit.DONE if code == done else code

    with_store(intervene)


def _is_so_already(state: RunState) -> str:
    """What was wanted had been wanted before; with its own reason, which stays."""
    from bot.cli.portrait import word_of

    how = "is being stopped" if state.stop else "is held"
    word = state.stop or state.held
    return f"Nothing was done: {state.run_id} {how} already" + (
        f", {word_of(word)}" if word else ""
    )


if TYPE_CHECKING:
    from bot.compose import Opened

    Act = Callable[[Runtime, RunId], Awaitable[RunState]]
