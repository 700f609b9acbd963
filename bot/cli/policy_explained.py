"""``policy explain``: why one call gets what it gets, of those that were judged, or one that nobody proposed."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.console import say, say_json
from bot.cli.exits import Exit
from bot.cli.options import AsJson
from bot.cli.plain import one_line
from bot.cli.policy_checks import Servers, tell_of_open_servers
from bot.cli.session import with_store

if TYPE_CHECKING:
    from pydantic import JsonValue

    from agent.rules.explaining import Why
    from agent.rules.judged_calls import JudgedCall
    from agent.rules.state import Approval, RunState
    from bot.compose import Opened
    from bot.config import Config
    from bot.policy_past import Compared
    from bot.policy_trying import Seen

NOT_LOOKED_AT = "Only what the rules say: limits, grants and freezes were not looked at."
_NOT_LOOKED_AT_THEN = (
    "Only what the rules and the freeze windows say: limits and grants were not looked at."
)


def explain(
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="apr_…, call_… or op_…, of the journal.")
    ] = None,
    tool: Annotated[str | None, typer.Option(help="Instead of an ID: a call of this tool.")] = None,
    args: Annotated[str, typer.Option(metavar="JSON", help="Its arguments.")] = "{}",
    requester: Annotated[
        str | None,
        typer.Option(metavar="USER", help="Who asked for the run: U…, or all of a name."),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Left out: the default.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="C…")] = None,
    session: Annotated[str | None, typer.Option(metavar="SESSION")] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="S…", help="That the requester is in; several times."),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="What the requester is, such as member.")] = None,
    tainted: Annotated[
        bool, typer.Option("--tainted", help="Untrusted content came before it.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it is, such as 2026-11-30T14:00:00Z."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            help="Left out: the file that PILOTHOUSE_CONFIG names, or the demo's.",
        ),
    ] = None,
    servers: Servers = False,
    as_json: AsJson = False,
) -> None:
    """Say which rule decides a call, why those before it do not, what follows, and who may decide."""
    if (id is None) == (tool is None):
        raise typer.BadParameter("Give the id of a call, or --tool.", param_hint="ID")
    if id is not None and not id.startswith(("apr_", "call_", "op_")):
        raise typer.BadParameter(
            "Give the id of an approval, a call or an operation.", param_hint="ID"
        )
    if id is not None and at is not None:
        raise typer.BadParameter("It goes with --tool.", param_hint="--at")
    if id is not None:
        _of_journal(id, file, starts_servers=servers, as_json=as_json)
        return
    written: dict[str, Any] = {
        "tool": tool,
        "args": _read(args),
        "requester": requester,
        "agent": agent,
        "channel": channel,
        "session": session,
        "groups": group or None,
        "kind": kind,
        "tainted": tainted,
        "at": at,
    }
    _of_example(
        {name: value for name, value in written.items() if value is not None},
        file,
        starts_servers=servers,
        as_json=as_json,
    )


def _read(args: str) -> Any:
    from agent.rules.arguments import MalformedArguments, parse_arguments

    try:
        return parse_arguments(args)
    except MalformedArguments as error:
        raise typer.BadParameter(str(error), param_hint="--args") from error


def _of_example(
    written: Mapping[str, Any], file: Path | None, *, starts_servers: bool, as_json: bool
) -> None:
    import asyncio

    from pydantic import ValidationError

    from agent.errors import ConfigError
    from bot.config import load_config
    from bot.config_mcp import started
    from bot.config_tests import TimedCall
    from bot.config_words import in_plain_words
    from bot.policy_checking import open_servers
    from bot.policy_trying import CantBeJudged, weigh_example
    from bot.settings import load_settings

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    try:
        call = TimedCall.model_validate(written)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        option = f"--{str(first['loc'][0]).replace('groups', 'group')}"
        raise typer.BadParameter(in_plain_words(first, first["loc"]), param_hint=option) from error
    settings = load_settings()
    config = load_config(file or settings.config, model=settings.model)

    async def weigh() -> Seen:
        async with started(config.servers if starts_servers else ()):
            return weigh_example(config.agents, call, call.at)

    tell_of_open_servers(() if starts_servers else open_servers(config))
    try:
        seen = asyncio.run(weigh())
    except CantBeJudged as error:
        raise ConfigError(f"This call can't be judged: {str(error).removesuffix('.')}.") from error
    if as_json:
        say_json(_seen_shape(config, seen))
    else:
        not_looked_at = NOT_LOOKED_AT if call.at is None else _NOT_LOOKED_AT_THEN
        for line in (*_seen_lines(config, seen), not_looked_at):
            say(line)
    raise typer.Exit(Exit.DONE)


def _of_journal(id: str, file: Path | None, *, starts_servers: bool, as_json: bool) -> None:
    async def work(house: Opened) -> int:
        from agent.engine.agents import schemas_of
        from agent.rules.veiling import known_in
        from bot.config_mcp import started
        from bot.policy_checking import open_servers
        from bot.policy_past import compare_call, find_call

        config = house.config
        past, approval, state = await find_call(house.runtime.store, id)
        async with started(config.servers if starts_servers else ()):
            now = compare_call(past, config.agents)
        tell_of_open_servers(() if starts_servers else open_servers(config))
        then = _why_then(past, approval, state)
        # What is secret among the run's arguments may stand in a reason.
        known = known_in(state, schemas_of(house.runtime.agents))
        if as_json:
            shape: dict[str, JsonValue] = {
                "run_id": state.run_id,
                "call_id": past.call_id,
                "then": _why_shape(then),
                "now": None if now.seen is None else _seen_shape(config, now.seen),
                "why_not_judged": now.why_not,
                "change": now.change,
            }
            say_json(known.hide_in(shape))
        else:
            for line in _compared(config, past, state, then, now):
                say(known.hide(line))
        return Exit.DONE

    with_store(work, reads_only=True, config=file)


def _compared(
    config: Config, past: JudgedCall, state: RunState, then: Why, now: Compared
) -> Iterator[str]:
    yield f"{one_line(past.tool)}, {past.call_id} of {state.run_id}"
    yield f"As it was judged, {past.at:%Y-%m-%d %H:%M:%S} UTC: {then.action}"
    yield from (f"  {line}" for line in _words(then))
    if now.seen is None:
        yield f"Now it could not be judged: {one_line(now.why_not or '')}"
    else:
        yield "As it would be judged now:"
        yield from (f"  {line}" for line in _seen_lines(config, now.seen))
    yield NOT_LOOKED_AT


def _why_then(past: JudgedCall, approval: Approval | None, state: RunState) -> Why:
    from agent.rules.explaining import why_asked, why_judged

    if approval is None:
        return why_judged(past.verdict, state.requesters)
    return why_asked(approval, state.call(past.call_id), state)


def _seen_lines(config: Config, seen: Seen) -> Iterator[str]:
    """What it gets, the way to it, and what that means."""
    from agent.rules.explaining import way_to_it
    from bot.policy_checking import rule_line

    place, weighed = seen.subject.place, seen.weighed
    yield f"{one_line(place.tool)}, asked for by {one_line(place.requester)}, agent {seen.agent.name}: {seen.outcome}"
    where = f"{config.marked.path}:"
    way = list(way_to_it(config.policy.rules, weighed, lambda n: f"{where}{rule_line(config, n)}"))
    width = max((len(stands) for stands, _ in way), default=0)
    for stands, words in way:
        yield f"  {stands:<{width}}  {one_line(words)}"
    if seen.frozen is not None and weighed.verdict.action != "deny":
        then = "then" if seen.outcome == "frozen" else "no sooner, whoever approves it"
        yield f"It is {one_line(seen.frozen.in_words)}, and starts {then}"
    yield from _words(_why_now(seen))


def _why_now(seen: Seen) -> Why:
    """Without what is used of a limit, and when it begins anew: that was not looked at."""
    from agent.rules.explaining import why_judged
    from agent.rules.ids import Principal

    why = why_judged(seen.weighed.verdict, (Principal(seen.subject.place.requester),))
    return replace(why, limit=None)


def _words(why: Why) -> Iterator[str]:
    from agent.rules.explaining import in_words
    from bot.cli.voice import PLAIN

    return in_words(why, PLAIN)


def _why_shape(why: Why) -> dict[str, JsonValue]:
    return {
        "action": why.action,
        "reason": why.reason,
        "rule": why.rule,
        "policy_version": why.policy_version,
        "grant": why.grant,
        "may_decide": json.loads(why.approvers.model_dump_json()) if why.action == "ask" else None,
        "words": list(_words(why)),
    }


def _seen_shape(config: Config, seen: Seen) -> dict[str, JsonValue]:
    from agent.rules.explaining import way_to_it
    from agent.rules.shapes import show_time
    from bot.policy_checking import rule_line

    place, weighed = seen.subject.place, seen.weighed
    numbers = [*(one.number for one in weighed.passed), weighed.number]
    way = way_to_it(config.policy.rules, weighed, lambda number: "")
    return {
        "file": str(config.marked.path),
        "agent": seen.agent.name,
        "tool": place.tool,
        "requester": place.requester,
        "frozen_until": None if seen.frozen is None else show_time(seen.frozen.until),
        "window": None if seen.frozen is None else seen.frozen.window.in_words,
        "rule_line": None if weighed.number is None else rule_line(config, weighed.number),
        "way": [
            {"line": None if number is None else rule_line(config, number), "words": words}
            for number, (_, words) in zip(numbers, way, strict=True)
        ],
        **_why_shape(_why_now(seen)),
    }
