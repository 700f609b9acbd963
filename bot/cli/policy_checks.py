"""``policy check``: is the file right, and does it do what its tests say?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import note, say, say_json, say_table
from bot.cli.exits import Exit
from bot.cli.listing import table
from bot.cli.options import AsJson
from bot.cli.plain import one_line

if TYPE_CHECKING:
    from bot.marked_yaml import Problem
    from bot.policy_checking import Checked, Tried
    from bot.policy_trying import Seen

PolicyFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        resolve_path=True,
        help="Left out: the file that PILOTHOUSE_CONFIG names, or the demo's.",
    ),
]
Servers = Annotated[
    bool, typer.Option("--servers", help="Start its MCP servers to learn which tools they have.")
]
_COLUMNS = ("TEST", "LINE", "TOOL", "EXPECTED", "GOT", "BY")


def check(file: PolicyFile = None, servers: Servers = False, as_json: AsJson = False) -> None:
    """Say what is wrong with the file, and run its tests. Nothing is started, changed or asked in Slack: exit
    code 0 if all is well, warnings or not, else 1."""
    from bot.policy_checking import check_file
    from bot.settings import load_settings

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    settings = load_settings()
    checked = asyncio.run(
        check_file(file or settings.config, model=settings.model, starts_servers=servers)
    )
    if as_json:
        say_json(_shape(checked))
    else:
        _tell(checked)
    raise typer.Exit(Exit.DONE if checked.is_fine else Exit.FAILED)


def tell_of_open_servers(servers: tuple[str, ...]) -> None:
    """What was not looked at, and how it would be."""
    if servers:
        note(
            f"The tools of {', '.join(servers)} are not known until the server is started, and were not"
            " looked at; --servers starts it."
        )


def _tell(checked: Checked) -> None:
    for kind, problems in (("error", checked.errors), ("warning", checked.warnings)):
        for problem in problems:
            say(f"{kind}: {one_line(str(problem))}")
    if checked.tests:
        say_table(table(_COLUMNS, [_cells(checked, one) for one in checked.tests]))
    tell_of_open_servers(checked.open_servers)
    say(_summary(checked))


def _cells(checked: Checked, tried: Tried) -> tuple[str, ...]:
    seen = tried.seen
    by = "; ".join(tried.wrong) if seen is None else _by(checked, tried, seen)
    return (
        "passes" if tried.passes else "FAILS",
        str(tried.line),
        tried.test.tool,
        tried.test.expect,
        "-" if seen is None else seen.outcome,
        by,
    )


def _by(checked: Checked, tried: Tried, seen: Seen) -> str:
    """The rule, where it stands, and what else is not as it was to be."""
    weighed = seen.weighed
    number = weighed.number
    line = _line(checked, number)
    rule = weighed.verdict.rule if number is None else _gist(checked, number)
    where = "" if line is None else f"line {line}: "
    failed = weighed.failed
    not_checked = () if failed is None else (f"could not be checked, and so it asks: {failed}",)
    frozen = (seen.frozen.in_words,) if seen.frozen and seen.outcome == "frozen" else ()
    return "; ".join((f"{where}{rule}", *not_checked, *frozen, *tried.wrong))


def _gist(checked: Checked, number: int) -> str:
    assert checked.config is not None
    return checked.config.policy.rules[number].gist


def _line(checked: Checked, number: int | None) -> int | None:
    from bot.policy_checking import rule_line

    assert checked.config is not None
    return None if number is None else rule_line(checked.config, number)


def _summary(checked: Checked) -> str:
    """The last line: whether it may be used."""
    return f"{checked.file}: {', '.join(_counts(checked))}"


def _counts(checked: Checked) -> Iterator[str]:
    errors = _count(len(checked.errors), "error")
    if checked.config is None:
        yield f"{errors}; nothing more was looked at."
        return
    yield errors
    yield _count(len(checked.warnings), "warning")
    failing = sum(not one.passes for one in checked.tests)
    tests = _count(len(checked.tests), "test")
    if not checked.tests:
        ending = ""
    elif failing:
        ending = f", {failing} of them {'fails' if failing == 1 else 'fail'}"
    else:
        ending = ", all pass" if len(checked.tests) > 1 else ", it passes"
    yield f"{tests}{ending}; policy {checked.config.policy.version}."


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def _shape(checked: Checked) -> dict[str, Any]:
    config = checked.config
    return {
        "file": str(checked.file),
        "digest": None if config is None else config.marked.digest,
        "policy_version": None if config is None else config.policy.version,
        "fine": checked.is_fine,
        "errors": [problem_shape(one) for one in checked.errors],
        "warnings": [problem_shape(one) for one in checked.warnings],
        "tests": [_test_shape(checked, one) for one in checked.tests],
        "servers_not_started": list(checked.open_servers),
    }


def problem_shape(problem: Problem) -> dict[str, Any]:
    """What is wrong, and where."""
    return {
        "file": None if problem.file is None else str(problem.file),
        "line": problem.line,
        "key": problem.key,
        "message": problem.message,
    }


def _test_shape(checked: Checked, tried: Tried) -> dict[str, Any]:
    seen = tried.seen
    weighed = None if seen is None else seen.weighed
    return {
        "line": tried.line,
        "tool": tried.test.tool,
        "passes": tried.passes,
        "expected": tried.test.expect,
        "got": None if seen is None else seen.outcome,
        "reason": None if weighed is None else weighed.verdict.reason,
        "rule": None if weighed is None else weighed.verdict.rule,
        "rule_line": None if weighed is None else _line(checked, weighed.number),
        "wrong": list(tried.wrong),
    }
