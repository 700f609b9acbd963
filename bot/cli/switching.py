"""``kill-switch``: nothing of a kind starts any more, until it is turned off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.listing import table
from bot.cli.options import AsJson
from bot.cli.plain import in_short, one_line
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from datetime import datetime

    from agent.rules.control import SwitchTurned
    from agent.rules.decisions import Decider
    from agent.rules.standing import Switch
    from bot.compose import Opened

kill_switch = typer.Typer(
    help="Stop everything, an agent or a tool at once, until you let it go on."
)

What = Annotated[
    str, typer.Argument(metavar="WHAT", help="all, agent:NAME, tool:NAME or tool:GLOB, or a name.")
]
_COLUMNS = ("SWITCH", "SINCE", "BY", "REASON")
_REASON_LIMIT = 120


@kill_switch.command()
def on(
    what: What,
    reason: Annotated[list[str], typer.Argument(metavar="REASON", help="Why: people see it.")],
    as_json: AsJson = False,
) -> None:
    """From now on nothing of it starts, in any process. What runs now finishes; runs hold and lose nothing."""
    _turn(what, " ".join(reason).strip(), is_on=True, as_json=as_json)


@kill_switch.command()
def off(
    what: What,
    reason: Annotated[
        list[str] | None, typer.Argument(metavar="[REASON]", help="Kept with it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let it go on: the runs that were held by it start again by themselves."""
    _turn(what, " ".join(reason or ()).strip(), is_on=False, as_json=as_json)


@kill_switch.command()
def status(as_json: AsJson = False) -> None:
    """What is switched off: since when, by whom and why."""

    async def tell(house: Opened) -> int:
        found = await house.runtime.switching.on()
        if as_json:
            say_json([switch_shape(one.turned, one.at) for one in found])
        elif not found:
            say("No kill switch is on.")
        else:
            say_table(table(_COLUMNS, [_cells(one) for one in found]))
        return Exit.DONE

    with_store(tell, reads_only=True)


def _turn(what: str, reason: str, *, is_on: bool, as_json: bool) -> None:
    if is_on and not reason:
        raise typer.BadParameter("Say why: people see it on the runs that are held.")

    async def turn(house: Opened) -> int:
        from agent.rules.switches import in_words

        switching = house.runtime.switching
        # What is on may be of an agent or a tool that is not here any more.
        known = {one.name for one in await switching.on()}
        switch = what if not is_on and what in known else switching.named(what)
        done = await switching.turn(switch, _operator(), reason, is_on=is_on)
        if as_json:
            say_json(switch_shape(done.turned, done.at))
        elif is_on:
            say(
                f"The kill switch is on for {one_line(in_words(switch))}: nothing of it starts from now on. What runs"
                f" now finishes. To let it go on: pilothouse kill-switch off {one_line(switch)}"
            )
        else:
            say(f"The kill switch is off for {one_line(in_words(switch))}: it goes on.")
        return Exit.DONE

    with_store(turn)


def _operator() -> Decider:
    from agent.rules.decisions import Decider

    return Decider(operator(), authority="operator")


def _cells(switch: Switch) -> tuple[str, ...]:
    from bot.cli.names import name_of, show_minute

    reason = in_short(one_line(switch.turned.reason), _REASON_LIMIT)
    return (one_line(switch.name), show_minute(switch.at), name_of(switch.turned.by), reason)


def switch_shape(turned: SwitchTurned, at: datetime) -> dict[str, Any]:
    """One, as programs see it."""
    from agent.rules.shapes import show_time

    return {
        "switch": turned.switch,
        "is_on": turned.is_on,
        "by": turned.by,
        "at": show_time(at),
        "reason": turned.reason,
    }
