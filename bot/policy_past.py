"""What a configuration would make of calls that were judged already, and of examples: ``policy test``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from agent.engine.agents import Agent
from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.ports import Store
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, OperationId, RunId
from agent.rules.json_text import NotJson, read_strictly
from agent.rules.judged_calls import JudgedCall, judged_calls
from agent.rules.parts import STRICTNESS, Approvers
from agent.rules.recorded import Recorded
from agent.rules.state import Approval, RunState
from bot.config_tests import ExampleCall
from bot.config_words import in_plain_words
from bot.marked_yaml import MarkedYaml, Problem, WrongFile, all_of
from bot.policy_trying import CantBeJudged, Seen, weigh_call, weigh_example

Action = Literal["allow", "ask", "deny"]
#: ``others``: asked about as before, of others or in another number. ``unjudged``: there is no such call here.
Change = Literal["stricter", "looser", "others", "unjudged"]


class Example(ExampleCall):
    """A call of a file of examples, and what it got, or is to get."""

    expect: Action | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A call, what it got, and what it would get."""

    tool: str
    requester: str
    #: Of the journal; None: an example.
    past: JudgedCall | None
    #: Of the examples' file.
    line: int | None
    #: None: nobody says.
    got: Action | None
    #: None: it can't be judged; then ``why_not`` says why.
    seen: Seen | None
    why_not: str | None = None

    @property
    def would_get(self) -> Action | None:
        return None if self.seen is None else self.seen.weighed.verdict.action

    @property
    def change(self) -> Change | None:
        """None: it would get what it got, or nobody says what that was."""
        if self.seen is None or self.would_get is None:
            return "unjudged"
        if self.got is None:
            return None
        if self.got != self.would_get:
            is_stricter = STRICTNESS.index(self.would_get) > STRICTNESS.index(self.got)
            return "stricter" if is_stricter else "looser"
        if self.got == "ask" and self.past is not None:
            before, now = self.past.verdict.approvers, self.seen.weighed.verdict.approvers
            return "others" if _sorted(before) != _sorted(now) else None
        return None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run whose journal can't be followed."""

    run_id: RunId
    why: str


async def compare_past(
    store: Store, agents: Sequence[Agent], run: RunId | None, since: datetime | None
) -> AsyncIterator[Compared | Unreadable]:
    """All the calls of the journal, or of one run, that were judged since then: run by run, in the order in
    which runs began, one run in memory at a time. Raises ``NotFound``."""
    if run is not None:
        for one in _of_run(await store.journal.read(run), agents, since):
            yield one
        return
    async for run_id in store.verifier.runs():
        try:
            compared = list(_of_run(await store.journal.read(run_id), agents, since))
        except (CorruptJournal, UnknownEvent) as error:
            yield Unreadable(run_id, str(error))
            continue
        for one in compared:
            yield one


def _of_run(
    events: Iterable[Recorded], agents: Sequence[Agent], since: datetime | None
) -> Iterator[Compared]:
    for past in judged_calls(events):
        if since is None or past.at >= since:
            yield compare_call(past, agents)


def compare_call(past: JudgedCall, agents: Sequence[Agent]) -> Compared:
    """One call of the journal."""
    seen, why_not = None, None
    try:
        seen = weigh_call(agents, past.state, past.tool, past.args)
    except CantBeJudged as error:
        why_not = str(error)
    by = past.state.requester
    return Compared(past.tool, by, past, None, past.by_the_rules, seen, why_not)


def compare_examples(file: Path, agents: Sequence[Agent]) -> Iterator[Compared]:
    """Those of a file: a YAML list, or JSON lines where its name ends in ``.jsonl``. Raises ``ConfigError`` for
    what is written wrongly, with its line; what stood before it was given by then."""
    for line, example in _json_lines(file) if file.suffix == ".jsonl" else _listed(file):
        seen, why_not = None, None
        try:
            seen = weigh_example(agents, example)
        except CantBeJudged as error:
            why_not = str(error)
        yield Compared(example.tool, example.requester, None, line, example.expect, seen, why_not)


def _listed(file: Path) -> Iterator[tuple[int, Example]]:
    marked = MarkedYaml(file)
    if not isinstance(marked.values, list):
        raise marked.error(
            (), "it is to be a list of calls: [{tool: pay, args: {amount: 5}, requester: U0123}]"
        )
    for number, written in enumerate(marked.values):
        try:
            yield marked.line((number,)), Example.model_validate(written)
        except ValidationError as error:
            raise all_of(
                marked.error((number, *one["loc"]), in_plain_words(one, one["loc"]))
                for one in error.errors(include_input=False, include_url=False)
            ) from error


def _json_lines(file: Path) -> Iterator[tuple[int, Example]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, text in enumerate(lines, 1):
                if text.strip():
                    yield number, _read(file, number, text)
    except (OSError, UnicodeDecodeError) as error:
        raise WrongFile(Problem("it can't be read as text in UTF-8.", file)) from error


def _read(file: Path, line: int, text: str) -> Example:
    try:
        return Example.model_validate(read_strictly(text))
    except NotJson as error:
        raise WrongFile(Problem(f"it is not JSON: {error}.", file, line)) from error
    except ValidationError as error:
        raise WrongFile(
            *(
                Problem(in_plain_words(one, one["loc"]), file, line, ".".join(map(str, one["loc"])))
                for one in error.errors(include_input=False, include_url=False)
            )
        ) from error


def _sorted(approvers: Approvers) -> Mapping[str, object]:
    """What makes them others: not the order in which they are named."""
    return {
        name: sorted(value) if isinstance(value, tuple) else value
        for name, value in approvers.model_dump().items()
    }


async def find_call(store: Store, id: str) -> tuple[JudgedCall, Approval | None, RunState]:
    """The call that is named so, or that an approval or an operation of this name is about, as it was judged then;
    with its approval where one is named, and its run as it is now. A call's own id is searched for in all runs.
    Raises ``NotFound``, also for what is about no call."""
    if id.startswith("apr_"):
        row = await store.lists.approval(ApprovalId(id))
        if row is None:
            raise NotFound("approval", id)
        events = await store.journal.read(row.run_id)
        state = fold(events)
        approval = state.approvals[ApprovalId(id)]
        judged = [one for one in judged_calls(events) if one.call_id == approval.requested.call_id]
        asked = [one for one in judged if one.args == approval.requested.args]
        if not judged:
            raise NotFound("call with the approval", id)
        return (asked or judged)[-1], approval, state
    if id.startswith("op_"):
        run_id = await store.lists.run_of_operation(OperationId(id))
        runs = [] if run_id is None else [run_id]
    else:
        runs = [one async for one in store.verifier.runs()]
    for run_id in reversed(runs):
        try:
            events = await store.journal.read(run_id)
            found = [one for one in judged_calls(events) if id in _names(one)]
        except (CorruptJournal, UnknownEvent):
            continue  # It is looked for in the others; `verify` tells of this one.
        if found:
            return found[-1], None, fold(events)
    raise NotFound("judged call", id)


def _names(call: JudgedCall) -> tuple[str, str]:
    return call.call_id, call.state.call(call.call_id).operation_id
