"""``resume``, ``retry``, ``recover``: runs that stopped go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.console import note, say, say_json
from bot.cli.exits import Exit
from bot.cli.options import AsJson, RunArgument
from bot.cli.running import finish, tell_pause
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from agent.rules.ids import RunId
    from agent.rules.state import RunState
    from bot.cli.following import Followed
    from bot.compose import Opened


def resume(run: RunArgument, as_json: AsJson = False) -> None:
    """Let a paused run go on, or try a blocked or unfinished one again, here and now."""

    async def go_on(house: Opened) -> int:
        from agent.errors import Blocked
        from agent.rules.ids import RunId
        from agent.rules.shapes import status_of
        from bot.cli.following import Followed, follow_while, why_of

        runtime, run_id = house.runtime, RunId(run)
        before = await runtime.state(run_id)
        work = _resume_to_pause(house, run_id)
        silent_or_say = (lambda line: None) if as_json else say
        try:
            resumed = await follow_while(runtime, run_id, work, after=before.seq, say=silent_or_say)
        except Blocked as error:
            state = await runtime.state(run_id)
            followed = Followed(state, "blocked", why_of(error))
            return await tell_pause(house, followed, as_json=as_json)
        state = resumed or await runtime.state(run_id)
        blocked = None if resumed is not None else await runtime.blocked(state)
        status = "blocked" if blocked else status_of(state, runtime.store.clock.now())
        followed = Followed(state, status, blocked)
        if resumed is None and not as_json:
            note(await _nothing_to_do(house, followed))
        return await tell_pause(house, followed, as_json=as_json)

    with_store(go_on)


def retry(run: RunArgument, as_json: AsJson = False) -> None:
    """Have a failed run go on from where it failed."""

    async def go_on(house: Opened) -> int:
        from agent.rules.ids import RunId

        state = await house.runtime.retry(RunId(run), operator())
        return await finish(house, state.run_id, after=state.seq - 1, as_json=as_json)

    with_store(go_on)


def recover(as_json: AsJson = False) -> None:
    """Take up every run that is due and that nobody works, and work it here until it ends or waits."""

    async def take_up(house: Opened) -> int:
        from bot.cli.listing import say_runs, shape_of_row

        lists = house.runtime.store.lists
        if mended := await house.runtime.mend():
            note(f"Put right beside the journals of: {', '.join(mended)}")
        rows = [await lists.run(run_id) for run_id in await house.runtime.recover(mends=False)]
        found = [await shape_of_row(house, row) for row in rows if row is not None]
        shapes = [shape for shape in found if shape is not None]
        if as_json:
            say_json(shapes)
        elif not shapes:
            say("Nothing was to do: no run is due that nobody works.")
        else:
            say_runs(shapes)
        return Exit.DONE

    with_store(take_up)


async def _resume_to_pause(house: Opened, run_id: RunId) -> RunState | None:
    """Also where somebody else works it: what was resumed is followed to its next pause. None when nothing was
    to do."""
    resumed = await house.runtime.resume(run_id, operator(), wait=True)
    return None if resumed is None else await house.runtime.settle(run_id)


async def _nothing_to_do(house: Opened, followed: Followed) -> str:
    """Why the run was left as it is."""
    state: RunState = followed.state
    if state.ending is not None:
        return f"Nothing was to do: {state.run_id} has ended; it is {state.ending}."
    if followed.blocked is not None and followed.blocked["code"] == "undeliverable":
        return f"What {state.run_id} waits for is asked in its thread now, if Slack takes it and a bot runs."
    if followed.status in ("waiting", "blocked") and state.place is not None:
        return (
            f"{state.run_id} waits for people. Its thread is looked at now, if Slack takes that and a bot "
            "runs: a card that is missing there is posted again."
        )
    if followed.status in ("waiting", "blocked"):
        return f"Nothing was to do: {state.run_id} waits for people."
    row = await house.runtime.store.lists.run(state.run_id)
    holder = row.holder if row else None
    return (
        f"Nothing was done: {state.run_id} is being worked by {holder or 'another process'}. "
        f"To follow it: pilothouse watch {state.run_id}"
    )
