"""YAML whose values know their lines, so that an error can say where it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agent.errors import ConfigError

#: From the top to a value: keys and indexes.
Way = Sequence[str | int]
#: No file of ours is as deep; one that contains itself has no end.
DEPTH_LIMIT = 40
#: Nor does one say as much: with names for parts of it, a few lines can stand for more than there is room for.
VALUES_LIMIT = 20_000


class _Loader(yaml.SafeLoader):
    """Of the library only what can't end in more than an error of its own."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """No deeper than a file of ours can be: one level of it is several of Python's."""
        self._depth += 1
        try:
            if self._depth > DEPTH_LIMIT + 1:
                mark = None if parent is None else parent.start_mark
                raise yaml.MarkedYAMLError(problem=_TOO_DEEP, problem_mark=mark)
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """What is no value of its kind, such as a day that the calendar does not have."""
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError) as error:
            shown = repr(node.value) if isinstance(node, yaml.ScalarNode) else "it"
            what = f"{shown} is no {node.tag.rpartition(':')[2]}; put it in quotes if it is a text"
            raise yaml.MarkedYAMLError(problem=what, problem_mark=node.start_mark) from error


#: What is usually meant, and how it is written, by what the library says.
_HINTS = {
    "mapping values are not allowed": "put a text that has a colon and a space into quotes",
    "found undefined alias": "put what begins with * into quotes",
    "found character '\\t'": "indent with spaces, not with a tab",
    "that cannot start any token": "put a text that begins so into quotes",
}


def _hint(error: yaml.MarkedYAMLError) -> str:
    said = str(error.problem)
    return next((f"; {hint}" for words, hint in _HINTS.items() if words in said), "")


_TOO_DEEP = f"it is nested more than {DEPTH_LIMIT} deep"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to say of a file; without ``line`` and ``key`` it is about all of it, without ``file`` about none."""

    message: str
    file: Path | None = None
    line: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}: "
        if self.line is not None:
            place = f"{self.file}:{self.line}: "
        return f"{place}{f'{self.key}: ' if self.key else ''}{self.message}"


class WrongFile(ConfigError):
    """What is wrong with a file, a line a problem."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def problems_of(error: ConfigError) -> tuple[Problem, ...]:
    """One by one, also where it is not known where they stand."""
    if isinstance(error, WrongFile):
        return error.problems
    return tuple(Problem(line) for line in str(error).splitlines())


def all_of(errors: Iterable[ConfigError]) -> WrongFile:
    """All of it in one."""
    return WrongFile(*(problem for error in errors for problem in problems_of(error)))


class MarkedYaml:
    """One YAML file; ``content`` are its bytes, where they have been read already. Raises ``ConfigError`` for
    a file that can't be read, a key that stands twice, or a key with nothing behind it: a blank must never be
    taken for "everyone"."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        try:
            self.content = path.read_bytes() if content is None else content
            #: Of the very bytes that were read: SHA-256, in hexadecimal digits.
            self.digest = hashlib.sha256(self.content).hexdigest()
            loader = _Loader(self.content.decode("utf-8"))
        except OSError as error:
            raise ConfigError(f"{path} can't be read: {error.strerror}.") from error
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigError(f"{path} is not text in UTF-8.") from error
        self._count = 0
        try:
            self._root = loader.get_single_node()
            self._check(self._root, ())
            self.values: Any = loader.construct_document(self._root) if self._root else None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise WrongFile(Problem(f"{error.problem}{_hint(error)}.", path, line)) from error
        finally:
            loader.dispose()

    def problem(self, way: Way, message: str) -> Problem:
        """It names file, line and key."""
        return Problem(message, self.path, self.line(way), _show(way) or None)

    def error(self, way: Way, message: str) -> WrongFile:
        """The same as an error."""
        return WrongFile(self.problem(way, message))

    def line(self, way: Way) -> int:
        """Of the value at the end of the way, or of the last one on it that is there."""
        node, line = self._root, 1
        for part in way:
            for name, key, value in _children(node):
                if name == part:
                    node, line = value, key.start_mark.line + 1
                    break
            else:
                break
        return line

    def _check(self, node: yaml.Node | None, way: tuple[str | int, ...]) -> None:
        if len(way) > DEPTH_LIMIT:
            raise self.error(way[:1], f"{_TOO_DEEP}.")
        self._count += 1
        if self._count > VALUES_LIMIT:
            raise self.error(way[:1], f"it stands for more than {VALUES_LIMIT:,} values.")
        seen = set()
        for name, key, value in _children(node):
            if name in seen:
                line = key.start_mark.line + 1
                raise WrongFile(Problem("stands twice.", self.path, line, _show((*way, name))))
            seen.add(name)
            if value.tag == "tag:yaml.org,2002:null":
                raise self.error(
                    (*way, name), "there is nothing behind it; give it a value or take it out."
                )
            self._check(value, (*way, name))


def _children(node: yaml.Node | None) -> Iterator[tuple[str | int, yaml.Node, yaml.Node]]:
    """Name or index, the node that says where it stands, and the value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), key, value
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield index, item, item


def _show(way: Way) -> str:
    """``policy[0].action``; nothing for the file itself."""
    shown = ""
    for part in way:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else part
    return shown
