"""YAML whose values know their lines, so that an error can say where it is."""

from __future__ import annotations

import hashlib
import re
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
#: Larger ones are not read: it would take minutes, and say too much in the end.
BYTES_LIMIT = 1_000_000


class _Loader(yaml.SafeLoader):
    """Of the library only what can't end in more than an error of its own."""

    _depth = 0
    _nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """No deeper than a file of ours can be: one level of it is several of Python's."""
        self._depth += 1
        self._nodes += 1
        try:
            if self._nodes > 2 * VALUES_LIMIT:  # Keys are nodes too.
                mark = None if parent is None else parent.start_mark
                raise yaml.MarkedYAMLError(problem=_TOO_MANY, problem_mark=mark)
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
            shown = _quoted(node) if isinstance(node, yaml.ScalarNode) else "it"
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
_TOO_MANY = f"it stands for more than {VALUES_LIMIT:,} values"
_TAG = "tag:yaml.org,2002:"
#: Numbers that YAML reads as others than people do: ``010`` is eight to it, and ``5:00`` three hundred.
_PLAIN_NUMBER = re.compile(
    r"[-+]?(?:0|[1-9][0-9_]*)?(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|nan)", re.I
)
#: Escapes can write it, and nothing can keep it.
_HALF = re.compile("[\ud800-\udfff]")
_QUOTED_LENGTH = 60


def _quoted(node: yaml.ScalarNode) -> str:
    whole = str(node.value)
    return repr(whole if len(whole) <= _QUOTED_LENGTH else f"{whole[:_QUOTED_LENGTH]}…")


def _what_is_misread(node: yaml.Node, *, is_key: bool) -> str | None:
    """Where YAML takes something for what nobody means who writes it, what it does, as a clause; None: it does not."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    if half := _HALF.search(node.value):
        return f"it has half of a character (U+{ord(half[0]):04X}), which no text has."
    kind = node.tag.removeprefix(_TAG)
    if is_key and kind in ("bool", "null"):
        return f"YAML takes the key {_quoted(node)} for {'true or false' if kind == 'bool' else 'nothing'}; put it in quotes."
    if kind in ("int", "float") and not _PLAIN_NUMBER.fullmatch(node.value):
        what = "the time in quotes" if ":" in node.value else "it in quotes if it is a text"
        shown = _quoted(node)
        return f"put {what}, or write plain digits: YAML takes {shown} for another number than it looks like."
    return None


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
            self.content = _read(path) if content is None else content
            if len(self.content) > BYTES_LIMIT:
                raise ConfigError(f"{path} is larger than {BYTES_LIMIT:,} bytes.")
            #: Of the very bytes that were read: SHA-256, in hexadecimal digits.
            self.digest = hashlib.sha256(self.content).hexdigest()
            loader = _Loader(self.content.decode("utf-8"))
        except OSError as error:
            raise ConfigError(f"{path} can't be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise WrongFile(Problem("it is not text in UTF-8.", path, line)) from error
        except yaml.reader.ReaderError as error:
            line = self.content.decode("utf-8").count("\n", 0, error.position) + 1
            what = f"it has a character that no text has (U+{error.character:04X})."
            raise WrongFile(Problem(what, path, line)) from error
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
            raise self.error(way[:1], f"{_TOO_MANY}.")
        seen = set()
        for name, key, value in _children(node):
            if name in seen:
                line = key.start_mark.line + 1
                raise WrongFile(Problem("stands twice.", self.path, line, _show((*way, name))))
            seen.add(name)
            is_key = isinstance(node, yaml.MappingNode)
            for one, of_key in ((key, is_key), (value, False)):
                if why := _what_is_misread(one, is_key=of_key):
                    raise WrongFile(
                        Problem(why, self.path, one.start_mark.line + 1, _show((*way, name)))
                    )
            if value.tag == "tag:yaml.org,2002:null":
                raise self.error(
                    (*way, name), "there is nothing behind it; give it a value or take it out."
                )
            self._check(value, (*way, name))


def _read(path: Path) -> bytes:
    """No more of it than tells that it is too large."""
    with path.open("rb") as file:
        return file.read(BYTES_LIMIT + 1)


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
    return shown.encode("utf-8", "backslashreplace").decode()
