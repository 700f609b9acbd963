"""``run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.console import note, say, say_json
from bot.cli.exits import Exit, exit_of
from bot.cli.options import AsJson
from bot.cli.plain import one_line
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from agent.rules.ids import RunId
    from bot.cli.following import Followed
    from bot.compose import Opened

NoWait = Annotated[bool, typer.Option("--no-wait", help="Only start it.")]


def run(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.")],
    agent: Annotated[str | None, typer.Option(help="By which agent.")] = None,
    session: Annotated[str | None, typer.Option(help="The conversation to go on with.")] = None,
    key: Annotated[
        str | None, typer.Option(help="The same key again finds the run that is there.")
    ] = None,
    no_wait: NoWait = False,
    as_json: AsJson = False,
) -> None:
    """Start a run and show its progress until it ends or waits for a person."""
    if not text.strip():
        raise typer.BadParameter("Say what is to be done.", param_hint="TEXT")
    if not text.isprintable() and any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise typer.BadParameter("This is not text in UTF-8.", param_hint="TEXT")

    async def start(house: Opened) -> int:
        from agent.rules.ids import SessionId

        run_id = await house.runtime.start(
            text,
            requester=operator(),
            agent=agent,
            session=SessionId(session) if session else None,
            key=f"cli:{key}" if key else None,
        )
        if no_wait:
            return await leave(house, run_id, as_json=as_json)
        return await finish(house, run_id, after=0, as_json=as_json)

    with_store(start, begins=True)


async def finish(house: Opened, run_id: RunId, *, after: int, as_json: bool) -> int:
    """Follow the run to its next pause, say where it has come to, and give the exit code."""
    if not as_json:
        note(run_id)
    followed = await work_on(house, run_id, after=after, as_json=as_json)
    return await tell_pause(house, followed, as_json=as_json)


async def work_on(house: Opened, run_id: RunId, *, after: int, as_json: bool) -> Followed:
    """Follow the run to its next pause, also where no other process works it; where it has come to."""
    from bot.cli.following import follow_to_pause

    silent_or_say = (lambda line: None) if as_json else say
    return await follow_to_pause(house.runtime, run_id, after=after, say=silent_or_say)


async def tell_pause(house: Opened, followed: Followed, *, as_json: bool) -> int:
    """Where the run has come to, and what can be done about it."""
    from agent.rules.undecided import is_to_be_asked_again
    from bot.cli.asking import how_to_decide
    from bot.cli.reading import shape_of

    if as_json:
        say_json(await shape_of(house, followed.state))
    elif followed.blocked is not None:
        note(f"blocked: {followed.blocked['message']} {followed.blocked['fix']}")
    elif followed.status == "waiting":
        state = followed.state
        for approval in state.approvals.values():
            if approval.status == "pending" or is_to_be_asked_again(state, approval):
                note(one_line(how_to_decide(approval, state)))
        if state.held is not None:
            note(f"To have it go on: pilothouse resume {state.run_id}")
    elif followed.status == "failed":
        note(f"To have it go on from where it failed: pilothouse retry {followed.state.run_id}")
    return exit_of(followed.status)


async def leave(house: Opened, run_id: RunId, *, as_json: bool) -> int:
    """Say which run it is, and whether anybody works it."""
    from bot.cli.reading import shape_of

    state = await house.runtime.state(run_id)
    if as_json:
        say_json(await shape_of(house, state))
    else:
        say(run_id)
    if not await house.runtime.is_worked(state):
        note("No bot process is running; the run goes on as soon as one is.")
    return Exit.DONE
