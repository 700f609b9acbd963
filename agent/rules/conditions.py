"""Conditions of the policy: expressions in CEL, checked when they are loaded.

CEL (the Common Expression Language) has no loops and no side effects. A condition must give a
boolean; one that fails at run time, or gives something else, is a reason to ask.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

from agent.errors import ConfigError
from agent.rules.condition_checks import (
    REQUESTER_KEYS,
    groups_named,
    patterns,
    speaks_of,
    what_is_disguised,
    what_is_wrong,
)
from agent.rules.condition_cost import READYING_LIMIT, why_too_much
from agent.rules.condition_text import code_of, steepness
from agent.rules.pattern_cost import NO_PATTERN, cost_of

#: What a condition may speak of.
NAMES = frozenset({"args", "agent", "requester", "channel", "session", "tainted"})
LENGTH_LIMIT = 2_000
#: So much of it stands in an error.
_SHOWN = 200

#: The functions that the library knows; it finds a misspelt one only at run time.
FUNCTIONS = frozenset(
    {"size", "contains", "startsWith", "endsWith", "matches"}
    | {"int", "uint", "double", "string", "bytes", "timestamp", "duration", "type", "dyn"}
    | {"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"}
    | {"getHours", "getMinutes", "getSeconds", "getMilliseconds"}
)

#: ``list.all(x, …)`` binds a name of its own.
_BOUND = re.compile(r"\b(?:all|exists|exists_one|map|filter)\(\s*([A-Za-z_]\w*)\s*,")


#: An argument by its name, as ``args.amount`` or ``args["amount"]``; what stands in quotes, and behind ``//``,
#: speaks of nothing. A name with brackets behind it is a function's.
_ARGUMENT = re.compile(
    r"""//[^\n]*
    | [rR][bB]?(?:"[^"]*"|'[^']*')
    | "{3}.*?"{3} | '{3}.*?'{3}
    | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'
    | (?<![\w.])args\s*(?:
        \.\s*\??\s*(?P<dotted>[A-Za-z_]\w*)(?!\w|\s*\()
      | \[\s*\??\s*(?:"(?P<double>[^"\\]*)"|'(?P<single>[^'\\]*)')\s*\]
    )""",
    re.VERBOSE | re.DOTALL,
)
#: Where the library says that a mistake is, and what it stumbled over there.
_MISTAKE = re.compile(
    r"<input>:(?P<line>\d+):(?P<column>\d+): (?:Syntax error: )?(?P<what>.*?)"
    r"(?: expecting .*| at '<EOF>')?$",
    re.MULTILINE,
)
_ODD = re.compile(r"(?:input|error at:) '(?P<odd>.*)'")
_TOO_DEEP = "Recursion limit"
_LACKING = re.compile(r"missing '(?P<lacking>.*)'")


@cache
def _library() -> Any:
    """Its compiled part alone. The package imports a command line of its own, and with that a whole terminal: a third
    of what a start of ours costs."""
    package = find_spec("cel")
    folders = package.submodule_search_locations if package else None
    compiled = PathFinder.find_spec("cel.cel", folders)
    if compiled is None or compiled.loader is None:
        return import_module("cel")
    library = module_from_spec(compiled)
    compiled.loader.exec_module(library)
    return library


#: How the library begins to say that an operation is not there for the values that it got.
_NO_OVERLOAD: Final = "No such overload"
_UNLIKE: Final = (
    "it compares or combines values of kinds that do not go together, such as a text and a number"
)


#: What is said where it fails because nobody could say who asked.
NOT_KNOWN: Final = {
    "id": "it is not known who asked for the run",
    "groups": "it is not known which groups whoever asked for the run is in",
    "kind": "it is not known what kind of account asked for the run",
}


class ConditionFailed(Exception):
    """The condition gave no answer; the text says why."""


class Condition:
    """One compiled expression. Raises ``ConfigError`` when it can't be right."""

    def __init__(self, source: str) -> None:
        if len(source) > LENGTH_LIMIT:
            raise ConfigError(f"a condition may have {LENGTH_LIMIT} characters, not {len(source)}")
        shown = repr(source if len(source) <= _SHOWN else f"{source[:_SHOWN]}…")
        if why := what_is_disguised(source):
            raise ConfigError(f"{shown} {why}")
        try:
            self._program = _library().compile(source)
        except ValueError as error:
            raise ConfigError(f"{shown} is not CEL: {_mistake(error)}") from error
        named = frozenset(self._program.variables())
        #: Of what a condition may speak of, what this one does; nothing: its answer is always the same.
        self.names = named & NAMES
        if unknown := named - NAMES - set(_BOUND.findall(source)):
            raise ConfigError(
                f"{shown} speaks of {', '.join(sorted(unknown))}; "
                f"a condition knows {', '.join(sorted(NAMES))}"
            )
        # Operators are listed too, under names such as ``_>_``.
        called = {name for name in self._program.functions() if name.isidentifier()}
        if misspelt := called - FUNCTIONS:
            raise ConfigError(
                f"{shown} calls {', '.join(sorted(misspelt))}; "
                f"a condition can call {', '.join(sorted(FUNCTIONS))}"
            )
        self.source = source
        if why := what_is_wrong(source) or self._what_no_pattern_is():
            raise ConfigError(f"{shown} {why}")
        code = code_of(source)
        self._steepness, self._written = steepness(code), code.count(",") + 1
        texts = (_library().compile(one.written).execute({}) for one in patterns(source))
        self._patterns = sum(map(cost_of, texts), NO_PATTERN)
        if self._patterns.readying > READYING_LIMIT:
            raise ConfigError(
                f"{shown} has a pattern that would take too much work each time; let less of it come so often"
            )

    def _what_no_pattern_is(self) -> str | None:
        """Tried out: a pattern that can't be would make the condition fail each time."""
        for pattern in patterns(self.source):
            try:
                _library().compile(f'"".matches({pattern.written})').execute({})
            except (ValueError, RuntimeError) as error:
                why = (str(error).splitlines() or [""])[-1].strip()
                return f"has the pattern {pattern.text!r}, which can't be used: {why[:200]}"
        return None

    @cached_property
    def asks_of_requester(self) -> frozenset[str]:
        """Which of ``id``, ``groups`` and ``kind`` of whoever asked for the run it speaks of."""
        return speaks_of(self.source)

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups of which it may ask whether the requester is in them."""
        return groups_named(self.source)

    def must_be_cheap(self, args: Mapping[str, Any]) -> None:
        """Raises ``ConditionFailed`` where it would have too much to look at."""
        if why := why_too_much(args, self._steepness, self._written, self._patterns):
            raise ConditionFailed(why)

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The arguments that it names."""
        if "args" in _BOUND.findall(self.source):
            return frozenset()  # A name of its own, that may stand for anything.
        found = (match.groupdict().values() for match in _ARGUMENT.finditer(self.source))
        return frozenset(name for names in found for name in names if name)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Raises ``ConditionFailed`` when there is no answer."""
        answer = self.value(values)
        if not isinstance(answer, bool):
            raise ConditionFailed(f"it gives {type(answer).__name__}, not a boolean")
        return answer

    def value(self, values: Mapping[str, Any]) -> Any:
        """What the expression gives. Raises ``ConditionFailed`` where it gives nothing."""
        try:
            return self._program.execute(dict(values))
        except KeyError as error:
            raise ConditionFailed(_lack(str(error.args[0]), self.arguments, values)) from error
        except (TypeError, LookupError, ValueError, RuntimeError, ArithmeticError) as error:
            raise ConditionFailed(_first_line(error)) from error


def says_of(arguments: Iterable[str]) -> str:
    """What is said of arguments that a rule names and a call does not have."""
    named = " and ".join(f"args.{name}" for name in arguments)
    return f"the rule speaks of {named}, which this call does not have"


def _lack(key: str, arguments: Collection[str], values: Mapping[str, Any]) -> str:
    if key in arguments and key not in values.get("args", {}):
        return says_of([key])
    if key in REQUESTER_KEYS and key not in values.get("requester", {}):
        return NOT_KNOWN[key]
    return f"the rule speaks of {key}, which is not there"


def _mistake(error: Exception) -> str:
    """Where the expression goes wrong, and with what; the library's list of what might stand there
    instead helps nobody."""
    found = _MISTAKE.search(str(error))
    if found and _TOO_DEEP in found["what"]:
        return "it is nested too deeply"
    if found is None:
        return _first_line(error)
    line, column = int(found["line"]), found["column"]
    where = f"column {column}" if line == 1 else f"line {line}, column {column}"
    if lacking := _LACKING.search(found["what"]):
        return f"{where}: {lacking['lacking']!r} is missing"
    odd = _ODD.search(found["what"])
    if odd is None:
        return f"{where}: {found['what']}"
    if "<EOF>" in odd["odd"]:
        return f"{where}: it ends too early"
    return f"{where}: {odd['odd'].strip()[:40]!r} is not expected"


def _first_line(error: Exception) -> str:
    """The library's words, but for those which no reader of a card could use."""
    line = (str(error) or type(error).__name__).splitlines()[0]
    return _UNLIKE if line.startswith(_NO_OVERLOAD) else line[:200]
