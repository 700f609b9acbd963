"""``keys new``, ``keys status``, ``keys rotate``: what the store is encrypted with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from agent.rules.counted import counted
from bot.cli.console import note, say, say_json
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.session import tending_store, with_store

if TYPE_CHECKING:
    from agent.ports import Keeping, KeyStatus
    from bot.compose import Opened

#: As often what is done is said.
_PARTS_A_LINE = 100
_WHO_TAKES_IT = "a bot that starts with it takes it into use, and so does `pilothouse keys rotate`."

keys = typer.Typer(
    help="Encryption keys: makes one, says what is encrypted with which, brings all under the newest.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@keys.command()
def new(
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="What the key is called, for PILOTHOUSE_ENCRYPTION_KEYS."
        ),
    ] = None,
) -> None:
    """Print a new key, and store it nowhere: with --id as PILOTHOUSE_ENCRYPTION_KEYS wants it, else for
    PILOTHOUSE_AUDIT_KEY."""
    from bot.compose import make_key

    say(make_key(id))


@keys.command()
def status(as_json: AsJson = False) -> None:
    """Say how many facts are under which key. Reads every fact."""

    async def look(house: Opened) -> int:
        keeping = await house.runtime.store.rotation.status()
        if as_json:
            say_json(_shape(keeping))
        else:
            for line in _lines(keeping):
                say(line)
        return Exit.DONE

    with_store(look, reads_only=True)


@keys.command()
def rotate(as_json: AsJson = False) -> None:
    """Bring everything under the newest key now, as bots at work do by themselves."""

    async def do(house: Opened) -> int:
        rotation = house.runtime.store.rotation
        me, parts = f"cli-{os.getpid()}", 0
        while await rotation.go_on(me):
            parts += 1
            if not as_json and parts % _PARTS_A_LINE == 0:
                note(f"{counted(parts, 'part')} are done …")
        keeping = await rotation.status()
        if as_json:
            say_json(_shape(keeping))
        else:
            for line in _lines(keeping):
                say(line)
        return Exit.FAILED if keeping.is_rotating else Exit.DONE

    tending_store(do)


def _lines(keeping: Keeping) -> list[str]:
    if not keeping.keys:
        lines = [f"Nothing is encrypted: {counted(keeping.clear, 'fact')} in the clear."]
    else:
        lines = [_line(one, is_newest=n == 0) for n, one in enumerate(keeping.keys)]
        lines.append(f"in the clear: {counted(keeping.clear, 'fact')}")
    if keeping.in_front is not None:
        lines.append(
            f"PILOTHOUSE_ENCRYPTION_KEYS has the key {keeping.in_front} in front, which is not the newest: whatever is"
            f" written takes {keeping.keys[0].key_id}. Put that one in front."
        )
    if keeping.new_key is not None:
        lines.append(f"The key {keeping.new_key} is not in use yet: {_WHO_TAKES_IT}")
    if keeping.is_rotating:
        lines.append(
            "Not all has been brought under the newest key yet: bots at work do it, and `pilothouse keys rotate`."
        )
    if keeping.has_new_audit:
        lines.append(f"The audit key is not in use yet: {_WHO_TAKES_IT}")
    elif not keeping.has_audit_key:
        lines.append("The chains take no audit key.")
    elif keeping.is_marking:
        lines.append("The chains take the audit key; what ended before is being marked.")
    else:
        lines.append("The chains take the audit key; what ended before is marked.")
    return lines


def _line(one: KeyStatus, *, is_newest: bool) -> str:
    if is_newest:
        what = "the newest"
    elif one.is_in_use:
        what = "still in use: leave it in PILOTHOUSE_ENCRYPTION_KEYS"
    elif one.facts:
        what = "retired, and yet needed: `pilothouse verify` names what can't be read"
    elif one.is_here:
        what = "retired: it may be taken out (backups of before still need it)"
    else:
        what = "retired"
    return f"key {one.key_id}: {counted(one.facts, 'fact')}; {what}"


def _shape(keeping: Keeping) -> dict[str, object]:
    return {
        "keys": [
            {"id": one.key_id, "facts": one.facts, "in_use": one.is_in_use, "here": one.is_here}
            for one in keeping.keys
        ],
        "clear": keeping.clear,
        "in_front": keeping.in_front,
        "not_in_use": keeping.new_key,
        "rotating": keeping.is_rotating,
        "audit_key": keeping.has_audit_key,
        "audit_key_not_in_use": keeping.has_new_audit,
        "marking": keeping.is_marking,
    }
