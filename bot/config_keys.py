"""Which keys may stand where in ``pilothouse.yml``, to say which one was meant. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel

from bot.marked_yaml import Way

#: How much alike two keys have to be; from 0 to 1.
_ALIKE = 0.75


def meant_by(model: type[BaseModel], way: Way) -> str | None:
    """The key that looks most like the one at the end of ``way``, of those that may stand there."""
    here = [model]
    for part in way[:-1]:
        # What is no key is an index, or a name behind one: it leads no deeper.
        here = _behind(here, part) or here
    keys = sorted(name for one in here for name in one.model_fields)
    close = get_close_matches(str(way[-1]), keys, n=1, cutoff=_ALIKE)
    return close[0] if close else None


def _behind(models: list[type[BaseModel]], part: str | int) -> list[type[BaseModel]]:
    fields = [one.model_fields[part] for one in models if part in one.model_fields]
    return [inner for field in fields for inner in _models(field.annotation)]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
