"""``policy test``: what would become of calls that were judged already, or of examples, under this file."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.rules.counted import counted
from bot.cli.console import note, say, say_table
from bot.cli.exits import Exit
from bot.cli.listing import table
from bot.cli.options import AsJson
from bot.cli.policy_checks import PolicyFile, Servers, tell_of_open_servers
from bot.cli.session import with_store

if TYPE_CHECKING:
    from bot.compose import Opened
    from bot.config import Config
    from bot.policy_past import Compared

_COLUMNS = ("WHEN", "CALL", "TOOL", "GOT", "WOULD GET", "CHANGE", "BY")
#: So many rows are held until they are shown.
_PAGE = 200
_CHANGES = {
    "stricter": "STRICTER",
    "looser": "LOOSER",
    "others": "OTHERS ASKED",
    "unjudged": "NOT JUDGED",
}
_NOT_PLAYED = (
    "Only what the rules say was compared: limits, grants, votes and freezes were not played again."
)


def compare(
    file: PolicyFile = None,
    calls: Annotated[
        Path | None,
        typer.Option(
            "--calls",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            help="Examples instead of the journal: a YAML list, or JSON lines (.jsonl), of"
            " {tool, args, requester, …, expect}.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="T", help="Only calls judged since: 2026-11-30, or 7d for so long ago."
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="Only the calls of this run.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Show only what would change.")
    ] = False,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit code 1 where anything would change.")
    ] = False,
    servers: Servers = False,
    as_json: AsJson = False,
) -> None:
    """Say of each past call what it got, and what it would get under this file. Nothing is changed. Exit code 0
    where that could be found out, whatever it is."""
    if calls is not None and (since is not None or run is not None):
        raise typer.BadParameter("--since and --run are about the journal.", param_hint="--calls")
    told = _Told(as_json=as_json, changed_only=changed)

    def code() -> int:
        told.end()
        return Exit.FAILED if fail_on_change and told.has_changes else Exit.DONE

    if calls is not None:
        asyncio.run(_examples(calls, file, told, starts_servers=servers))
        raise typer.Exit(code())

    async def work(house: Opened) -> int:
        from agent.rules.ids import RunId
        from bot.config_mcp import started
        from bot.policy_past import Unreadable, compare_past

        store, config = house.runtime.store, house.config
        begin = None if since is None else _moment(since, store.clock.now())
        wanted = None if run is None else RunId(run)
        async with started(config.servers if servers else ()):
            told.begin(config)
            async for one in compare_past(store, config.agents, wanted, begin):
                if isinstance(one, Unreadable):
                    note(
                        f"{one.run_id} can't be read, and its calls are not among these. {one.why}"
                    )
                else:
                    told.tell(one)
        return code()

    with_store(work, reads_only=True, config=file)


async def _examples(calls: Path, file: Path | None, told: _Told, *, starts_servers: bool) -> None:
    from bot.config import load_config
    from bot.config_mcp import started
    from bot.policy_past import compare_examples
    from bot.settings import load_settings

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    settings = load_settings()
    config = load_config(file or settings.config, model=settings.model)
    async with started(config.servers if starts_servers else ()):
        told.begin(config)
        for one in compare_examples(calls, config.agents):
            told.tell(one)


def _moment(text: str, now: datetime) -> datetime:
    """Raises ``BadParameter``."""
    from agent.rules.durations import read_duration

    try:
        back: timedelta = read_duration(text)
    except ValueError:
        pass
    else:
        return now - back
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            "Give a day or a time, such as 2026-11-30 or 2026-11-30T14:00:00Z, or how long ago, such as 7d.",
            param_hint="--since",
        ) from error
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


@dataclass
class _Told:
    """What is told, row by row: a page of a table at a time, or the items of a JSON array."""

    as_json: bool
    changed_only: bool
    counts: Counter[str] = field(default_factory=Counter)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    item: str | None = None
    config: Config | None = None

    @property
    def has_changes(self) -> bool:
        return any(count for change, count in self.counts.items() if change != "same")

    def begin(self, config: Config) -> None:
        """By this file."""
        from bot.policy_checking import open_servers

        self.config = config
        tell_of_open_servers(open_servers(config))

    def tell(self, one: Compared) -> None:
        self.counts[one.change or "same"] += 1
        if self.changed_only and one.change is None:
            return
        if self.as_json:
            self._say_item(json.dumps(self._shape(one), ensure_ascii=False))
        else:
            self.rows.append(self._cells(one))
            if len(self.rows) >= _PAGE:
                self._flush()

    def end(self) -> None:
        """All of it, and the sum."""
        if self.as_json:
            self._say_item(None)
            note(self._summary())
            return
        self._flush()
        say(self._summary())

    def _say_item(self, item: str | None) -> None:
        """The one before: only by the next, or the end (None), it is known whether a comma follows."""
        if self.item is not None:
            say(f"  {self.item}{'' if item is None else ','}")
        elif item is not None:
            say("[")
        if item is None:
            say("]" if self.item is not None else "[]")
        self.item = item

    def _flush(self) -> None:
        if self.rows:
            say_table(table(_COLUMNS, self.rows))
            self.rows.clear()

    def _summary(self) -> str:
        total, same = sum(self.counts.values()), self.counts["same"]
        parts = [f"{same} as before"]
        for change, words in (
            ("stricter", "stricter"),
            ("looser", "looser"),
            ("others", "asked of others"),
            ("unjudged", "can't be judged"),
        ):
            if self.counts[change]:
                parts.append(f"{self.counts[change]} {words}")
        calls = counted(total, "call")
        return (
            f"{calls}: {', '.join(parts)}. {_NOT_PLAYED}" if total else f"No calls. {_NOT_PLAYED}"
        )

    def _cells(self, one: Compared) -> tuple[str, ...]:
        from bot.cli.names import show_minute

        past = one.past
        return (
            "-" if past is None else show_minute(past.at),
            f"line {one.line}" if past is None else past.call_id,
            one.tool,
            one.got or "-",
            one.would_get or "-",
            _CHANGES[one.change] if one.change else "",
            self._by(one),
        )

    def _by(self, one: Compared) -> str:
        from bot.policy_checking import rule_line

        if one.seen is None:
            return one.why_not or ""
        assert self.config is not None
        weighed = one.seen.weighed
        if weighed.number is None:
            return weighed.verdict.rule
        rule = self.config.policy.rules[weighed.number]
        return f"line {rule_line(self.config, weighed.number)}: {rule.gist}"

    def _shape(self, one: Compared) -> dict[str, Any]:
        from bot.policy_checking import rule_line

        assert self.config is not None
        past, weighed = one.past, one.seen.weighed if one.seen else None
        number = None if weighed is None else weighed.number
        return {
            "run_id": None if past is None else past.state.run_id,
            "call_id": None if past is None else past.call_id,
            "line": one.line,
            "at": None if past is None else past.at.isoformat().replace("+00:00", "Z"),
            "tool": one.tool,
            "requester": one.requester,
            "got": one.got,
            "got_by": None if past is None else past.verdict.rule,
            "got_under": None if past is None else past.verdict.policy_version,
            "grant": None if past is None else past.verdict.grant,
            "would_get": one.would_get,
            "would_get_by": None if weighed is None else weighed.verdict.rule,
            "rule_line": None if number is None else rule_line(self.config, number),
            "change": one.change,
            "why_not_judged": one.why_not,
        }
