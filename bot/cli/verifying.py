"""``verify``: is what the store holds what was written?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.errors import ConfigError
from agent.rules.counted import counted
from bot.cli.console import note, say, say_json, so_far
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.plain import one_line
from bot.cli.session import with_store

if TYPE_CHECKING:
    from agent.rules.anchors import Anchor
    from agent.verifying import Verified
    from bot.compose import Opened


def verify(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="run_…; without it, all.")
    ] = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Heads that were written earlier: does the store still hold what they cover? Written"
            " now where there is no FILE yet, if all is whole.",
        ),
    ] = None,
    must_exist: Annotated[
        bool,
        typer.Option(
            "--must-exist", help="A missing FILE is no check: for whoever checks by habit."
        ),
    ] = False,
    renew: Annotated[
        bool,
        typer.Option("--renew", help="Check against FILE; if all is whole, write it anew."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every fact of every run and of the control journal: changed, missing, moved, put in?"""
    anchor, known = _anchor(anchor, run, must_exist=must_exist, renew=renew)

    async def check(house: Opened) -> int:
        from agent.rules.anchors import anchor_of
        from agent.rules.ids import RunId

        verified = await house.runtime.verify(
            None if run is None else RunId(run),
            known,
            keeps_heads=anchor is not None and (known is None or renew),
            progress=so_far("run", "fact"),
        )
        written = None
        if anchor is not None and (known is None or renew) and verified.is_whole:
            written = anchor_of(verified.heads, house.runtime.store.clock.now())
            _write(anchor, written)
        if as_json:
            say_json(_shape(verified, anchor, known, written))
        else:
            _tell(verified, anchor, known, written)
            if run is not None and verified.is_whole and verified.purged:
                buried = await house.runtime.store.purges.purged(RunId(run))
                assert buried is not None, "its tombstone was just found"
                say(
                    f"{run}: removed on {buried.at:%Y-%m-%d %H:%M} UTC ({buried.rule}); it had {counted(buried.head_seq, 'fact')},"
                    f" last hash {buried.head_hash}."
                )
        return Exit.DONE if verified.is_whole else Exit.FAILED

    with_store(check, reads_only=True)


def _anchor(
    file: Path | None, run: str | None, *, must_exist: bool, renew: bool
) -> tuple[Path | None, Anchor | None]:
    """The file that counts, and what it holds where it is there. Raises ``ConfigError`` for what can't be
    checked, or written, in this way."""
    if file is None and (must_exist or renew):
        raise ConfigError(
            "--must-exist and --renew are about an anchor: say which, with --anchor FILE."
        )
    known = None if file is None else _read(file)
    if known is not None and run is not None and run not in {one.journal for one in known.heads}:
        if must_exist:
            raise ConfigError(f"The anchor {file} knows nothing of {run}: nothing was checked.")
        note(f"The anchor {file} knows nothing of {run}: it was checked by itself alone.")
        file = known = None
    is_first = file is not None and known is None
    if is_first and (must_exist or renew):
        raise ConfigError(f"There is no anchor {file}: nothing was checked.")
    if run is not None and (is_first or renew):
        raise ConfigError("An anchor holds the heads of all runs: leave out RUN to write one.")
    return file, known


def _tell(
    verified: Verified, file: Path | None, known: Anchor | None, written: Anchor | None
) -> None:
    for broken in verified.breaks:
        say(f"{one_line(broken.journal)}: broken at {broken.seq}: {one_line(broken.why)}")
    if verified.purged or verified.partly_removed:
        say(
            f"Removed by retention, as the control journal says: {counted(verified.purged, 'run')} altogether, whose last hashes"
            f" stand, and parts of {verified.partly_removed} more."
        )
    if verified.is_whole:
        say(
            f"Whole: {counted(verified.facts, 'fact')} of {counted(verified.runs, 'run')} and of the control journal."
        )
        if not verified.facts and not verified.purged:
            note(
                "There is no fact in this database, so nothing was checked. Is it the one that you mean?"
            )
    else:
        were = "was" if verified.facts == 1 else "were"
        say(f"{len(verified.breaks)} broken; {counted(verified.facts, 'fact')} {were} found whole.")
    if known is not None:
        say(f"Checked against {file}, of {known.taken_at}.")
        if since := verified.removed_since:
            say(
                f"Removed since then, as the control journal says: something of {counted(since, 'run')}. What is"
                " left of those the anchor does not vouch for; with PILOTHOUSE_AUDIT_KEY their facts do."
            )
    elif file is not None:
        note(f"There was no anchor {file}: nothing was checked against one.")
    if written is not None:
        say(f"Written: {file}. Keep it where nobody who can change the database can change it.")


def _shape(
    verified: Verified, file: Path | None, known: Anchor | None, written: Anchor | None
) -> dict[str, object]:
    return {
        "whole": verified.is_whole,
        "runs": verified.runs,
        "facts": verified.facts,
        "purged": verified.purged,
        "partly_removed": verified.partly_removed,
        "breaks": [
            {"journal": one.journal, "seq": one.seq, "why": one.why} for one in verified.breaks
        ],
        "anchor": None
        if file is None
        else {
            "file": str(file),
            "checked": known.taken_at if known else None,
            "removed_since": verified.removed_since if known else None,
            "written": written.taken_at if written else None,
        },
    }


def _read(file: Path) -> Anchor | None:
    """None where there is no file. Raises ``ConfigError``."""
    from agent.rules.anchors import NoAnchor, load_anchor

    try:
        return load_anchor(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (NoAnchor, UnicodeDecodeError) as error:
        raise ConfigError(f"The anchor {file} can't be used: {error}.") from error
    except OSError as error:
        raise ConfigError(f"The anchor {file} can't be read: {error.strerror}.") from error


def _write(file: Path, anchor: Anchor) -> None:
    """All of it or nothing, for its owner alone. Raises ``ConfigError``."""
    from agent.rules.anchors import dump_anchor

    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with open(
            os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
        ) as new:
            new.write(dump_anchor(anchor))
            new.flush()
            os.fsync(new.fileno())
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ConfigError(f"The anchor {file} can't be written: {error.strerror}.") from error
