"""``grants``, ``revoke``, and what ``approve --for`` means."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.listing import table
from bot.cli.options import AsJson, By
from bot.cli.plain import in_short, one_line
from bot.cli.session import listing_store, operator, with_store

if TYPE_CHECKING:
    from agent.rules.grants import GrantWish
    from agent.rules.standing import Grant
    from agent.rules.veiling import Schemas
    from bot.compose import Opened

GrantArgument = Annotated[str, typer.Argument(metavar="GRANT", help="Its id: grt_…")]
#: Of the arguments that it is for; whole they are in `grants --json`.
_WITH_LIMIT = 200
_COLUMNS = ("GRANT", "TOOL", "UNTIL", "BY", "HOLDS FOR", "WITH")


class Scope(StrEnum):
    """Where a grant holds."""

    RUN = "run"
    THREAD = "thread"


def wish_of(also_for: Scope | None, lasts: str | None, *, any_arguments: bool) -> GrantWish | None:
    """What the options of ``approve`` ask for. Raises ``BadParameter``."""
    from agent.rules.durations import read_duration
    from agent.rules.grants import GrantWish

    if also_for is None:
        if lasts is not None or any_arguments:
            raise typer.BadParameter("Say where it is to hold too: --for run or --for thread.")
        return None
    try:
        length = None if lasts is None else read_duration(lasts)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--lasts") from error
    return GrantWish(also_for.value, length, any_arguments)


def grants(as_json: AsJson = False) -> None:
    """The grants that hold now, oldest first: what needs no asking."""

    def tell_none() -> None:
        if as_json:
            say_json([])
        else:
            say("No grant holds.")

    async def tell(house: Opened) -> int:
        from agent.engine.agents import schemas_of

        found, schemas = await house.runtime.grants(), schemas_of(house.runtime.agents)
        if not found:
            tell_none()
        elif as_json:
            say_json([grant_shape(grant, schemas) for grant in found])
        else:
            say_table(
                table(_COLUMNS, [grant_cells(grant_shape(grant, schemas)) for grant in found])
            )
        return Exit.DONE

    listing_store(tell, tell_none)


def revoke(
    grant: GrantArgument,
    reason: Annotated[str, typer.Option(help="Kept with it.")] = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Take a grant back: what begins from now on is asked about again."""

    async def take_back(house: Opened) -> int:
        from agent.engine.agents import schemas_of
        from agent.rules.ids import GrantId

        id = GrantId(grant)
        who, claimed_by = operator(), None
        held = next((one for one in await house.runtime.grants() if one.id == id), None)
        # Of one that does not hold the runtime says why.
        if by is not None and held is not None:
            who, claimed_by = await house.taker_back(by, held), operator()
        was = await house.runtime.revoke(id, who, reason, claimed_by=claimed_by)
        if as_json:
            say_json(grant_shape(was, schemas_of(house.runtime.agents)))
        else:
            say(f"{was.id} holds no more: {one_line(was.given.tool)} is asked about again.")
        return Exit.DONE

    with_store(take_back)


def grant_cells(shape: dict[str, Any]) -> tuple[str, ...]:
    """One, in words for a terminal."""
    from agent.rules.json_text import dump_text
    from bot.cli.names import name_of, show_minute_of

    holds_for = shape["run_id"] or shape["session"] or f"all of {shape['agent']}"
    with_what = dump_text(shape["where"]) if shape["where"] else "any arguments"
    until = show_minute_of(shape["expires_at"]) or "it is revoked"
    return (
        *(shape["id"], shape["tool"], until, name_of(shape["by"]), holds_for),
        in_short(with_what, _WITH_LIMIT),
    )


def grant_shape(grant: Grant, schemas: Schemas) -> dict[str, Any]:
    """One, as programs see it, with masks in place of secrets."""
    from agent.rules.shapes import show_time
    from bot.cli.veiling import veiled_where

    given = grant.given
    return {
        "id": given.grant_id,
        "agent": given.agent,
        "tool": given.tool,
        "where": veiled_where(given, schemas),
        "run_id": given.run_id,
        "session": given.session,
        "by": given.by,
        "claimed_by": given.claimed_by,
        "given_at": show_time(grant.at),
        "expires_at": show_time(given.expires_at),
        "reason": given.reason,
    }
