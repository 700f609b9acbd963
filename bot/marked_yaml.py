"""YAML whose values know their lines, so that an error can say where it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from agent.errors import ConfigError

#: From the top to a value: keys and indexes.
Way = Sequence[str | int]
#: No file of ours is as deep; one that contains itself has no end.
DEPTH_LIMIT = 40


class MarkedYaml:
    """One YAML file; ``content`` are its bytes, where they have been read already. Raises ``ConfigError`` for
    a file that can't be read, a key that stands twice, or a key with nothing behind it: a blank must never be
    taken for "everyone"."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        try:
            self.content = path.read_bytes() if content is None else content
            loader = yaml.SafeLoader(self.content.decode("utf-8"))
        except OSError as error:
            raise ConfigError(f"{path} can't be read: {error.strerror}.") from error
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigError(f"{path} is not text in UTF-8.") from error
        try:
            self._root = loader.get_single_node()
            self._check(self._root, ())
            self.values: Any = loader.construct_document(self._root) if self._root else None
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise ConfigError(f"{path}:{line}: {error.problem}.") from error
        finally:
            loader.dispose()

    def error(self, way: Way, message: str) -> ConfigError:
        """An error that names file, line and key."""
        return ConfigError(f"{self.path}:{self._line(way)}: {_show(way)}{message}")

    def _line(self, way: Way) -> int:
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
            raise self.error(way[:1], f"it is nested more than {DEPTH_LIMIT} deep.")
        seen = set()
        for name, key, value in _children(node):
            if name in seen:
                line = key.start_mark.line + 1
                raise ConfigError(f"{self.path}:{line}: {_show((*way, name))}stands twice.")
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
    """``policy[0].action: ``"""
    shown = ""
    for part in way:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else part
    return f"{shown}: " if shown else ""
