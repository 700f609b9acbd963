"""``show``, ``watch``, ``journal``, ``receipt``: one run, or one effect of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import say, say_json
from bot.cli.exits import Exit, exit_of
from bot.cli.options import AsJson, RunArgument
from bot.cli.session import with_store

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agent.errors import CorruptJournal, UnknownEvent
    from agent.ports import RunRow
    from agent.ports.purges import PastRemoval
    from agent.rules.state import RunState
    from bot.compose import Opened

    Tell = Callable[[Opened], Coroutine[Any, Any, int]]


def show(run: RunArgument, as_json: AsJson = False) -> None:
    """Where a run stands: what it did, what it waits for, what it used."""

    async def tell(house: Opened) -> int:
        from agent.engine.agents import schemas_of
        from agent.errors import CorruptJournal, UnknownEvent
        from agent.rules.fold import fold
        from agent.rules.ids import RunId
        from agent.rules.veiling import known_in, veiled
        from bot.cli.portrait import portrait
        from bot.cli.provenance import origins, refusals
        from bot.cli.veiling import veiled_events

        store = house.runtime.store
        try:
            events = await store.journal.read(RunId(run))
            state = fold(events)
        except (CorruptJournal, UnknownEvent) as error:
            row = await store.lists.run(RunId(run))
            if row is None or not as_json:
                raise
            say_json(unreadable_shape(row, error))
            return Exit.BLOCKED
        shape = await shape_of(house, state)
        removed = await house.runtime.store.purges.purged(RunId(run))
        if as_json:
            say_json(shape if removed is None else {**shape, "removed": removed_shape(removed)})
        else:
            shown, known = (
                veiled_events(events, house),
                known_in(state, schemas_of(house.runtime.agents)),
            )
            of_calls = origins(events), refusals(shown)
            say("\n".join(portrait(veiled(state, known), shape, *of_calls)))
            if removed is not None:
                at = f"{removed.at:%Y-%m-%d %H:%M} UTC"
                say(f"removed    {removed.removed}, on {at} ({removed.rule})")
        return Exit.BLOCKED if shape["status"] == "blocked" else Exit.DONE

    with_store(tell, reads_only=True)


def watch(
    run: RunArgument,
    no_follow: Annotated[
        bool, typer.Option("--no-follow", help="Only what has happened by now.")
    ] = False,
) -> None:
    """A run's story as it happens, up to its end."""

    async def tell(house: Opened) -> int:
        from agent.rules.ids import RunId
        from bot.cli.following import follow_to_end

        state = await follow_to_end(house.runtime, RunId(run), say=say, is_live=not no_follow)
        return exit_of(state.ending) if state.ending else Exit.DONE

    with_store(tell, reads_only=True)


def journal(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="run_…")] = None,
    control: Annotated[
        bool,
        typer.Option(
            "--control", help="What belongs to no run: refused decisions, policies, grants."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """A run's events, as they are recorded but for secrets; or those of no run."""
    if control == (run is not None):
        raise typer.BadParameter("Give a run's id, or --control.", param_hint="RUN")
    with_store(_control(as_json) if run is None else _of_run(run, as_json), reads_only=True)


def _of_run(run: str, as_json: bool) -> Tell:
    async def tell(house: Opened) -> int:
        from agent.rules.ids import RunId
        from agent.rules.recorded import describe_event
        from bot.cli.portrait import event_line
        from bot.cli.veiling import veiled_events

        events = veiled_events(await house.runtime.store.journal.read(RunId(run)), house)
        if as_json:
            say_json([describe_event(one) for one in events])
        else:
            for one in events:
                say(event_line(one))
        return Exit.DONE

    return tell


def _control(as_json: bool) -> Tell:
    async def tell(house: Opened) -> int:
        from agent.rules.control import describe_control
        from bot.cli.portrait import control_line
        from bot.cli.veiling import veiled_control

        # Page by page, however long it is; told as JSON it is one value.
        shapes: list[dict[str, Any]] = []
        after = 0
        while page := await house.runtime.store.control.read(after):
            after = page[-1].seq
            for one in page:
                shown = veiled_control(one, house)
                if as_json:
                    shapes.append(describe_control(shown))
                else:
                    say(control_line(shown))
        if as_json:
            say_json(shapes)
        return Exit.DONE

    return tell


def receipt(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="op_…")],
    as_json: AsJson = False,
) -> None:
    """What is known of an effect: did it happen?"""

    async def tell(house: Opened) -> int:
        from dataclasses import asdict

        from agent.rules.ids import OperationId
        from bot.cli.portrait import effect_lines

        known = await house.runtime.receipt(OperationId(operation))
        if as_json:
            told = asdict(known)
            if not known.dry_run:
                del told["dry_run"]  # As in a run: it is said only where it is so.
            say_json(told)
        else:
            say("\n".join(effect_lines(known)))
        return Exit.DONE

    with_store(tell, reads_only=True)


def removed_shape(removed: PastRemoval) -> dict[str, str]:
    """What was removed of a run, as ``--json`` gives it."""
    at = removed.at.isoformat().replace("+00:00", "Z")
    return {"what": removed.removed, "at": at, "rule": removed.rule}


def unreadable_shape(row: RunRow, error: CorruptJournal | UnknownEvent) -> dict[str, Any]:
    """A run whose journal this build can't read: every key of a run, and why it is blocked."""
    fix = {
        "incompatible": "A newer build wrote it; start that build, and the run goes on by itself.",
        "corrupt": "Nothing was changed. To see what is wrong: pilothouse verify "
        f"{row.run_id}. Restore the database from a backup.",
    }
    blocked = {"code": error.code, "message": str(error), "fix": fix.get(error.code, "")}
    unknown = dict.fromkeys(
        (
            *("prompt", "requester", "waiting_for", "next_step", "answer", "error", "usage"),
            *("started_at", "updated_at", "ended_at", "waited_seconds", "thread"),
        )
    )
    return {
        **unknown,
        "id": row.run_id,
        "agent": row.agent,
        "session": row.session,
        "status": "blocked",
        "blocked": blocked,
        "state_version": row.head_seq,
        "holder": row.holder,
        "approvals": [],
        "calls": [],
    }


async def shape_of(house: Opened, state: RunState) -> dict[str, Any]:
    """The run as ``--json`` gives it."""
    from agent.engine.agents import schemas_of
    from agent.rules.shapes import run_shape
    from agent.rules.veiling import known_in, veiled

    runtime = house.runtime
    row = await runtime.store.lists.run(state.run_id)
    return run_shape(
        veiled(state, known_in(state, schemas_of(house.runtime.agents))),
        now=runtime.store.clock.now(),
        holder=row.holder if row else None,
        blocked=await runtime.blocked(state),
        thread=await house.thread_link(state),
    )
