"""Which of several calls of one tool is which: a value of theirs, where their titles don't say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.rules.calls import Call
from agent.rules.ids import CallId
from bot.slack.cards.arguments import describe_arguments

#: So much of a line on a telephone.
_SHORT = 30


def what_tells_apart(calls: Iterable[Call]) -> Mapping[CallId, str]:
    """For each call that is not the only one of its tool: the first short argument in which they differ, else
    its first. Nothing that is masked, or that hides something."""
    by_tool: dict[str, list[Call]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append(call)
    return dict(one for alike in by_tool.values() if len(alike) > 1 for one in _told(alike))


def _told(alike: Sequence[Call]) -> Iterator[tuple[CallId, str]]:
    short = [_short_values(call) for call in alike]
    names = list(dict.fromkeys(name for values in short for name in values))
    names.sort(key=lambda name: len({values.get(name) for values in short}) == 1)
    for call, values in zip(alike, short, strict=True):
        yield call.id, next((values[name] for name in names if name in values), "")


def _short_values(call: Call) -> Mapping[str, str]:
    return {
        one.name: one.text
        for one in describe_arguments(call.args, call.parameters)
        if one.is_short and len(one.text) <= _SHORT and not (one.is_masked or one.has_hidden)
    }
