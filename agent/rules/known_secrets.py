"""The secrets that are known because a call has them among its arguments, taken out of any other text: of a log,
of an error's words, of what a tool says meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agent.rules.secret_texts import MASK, mask_of
from agent.rules.secrets import hide_secrets

#: What is shorter stands in other words, too: it is taken out only where it is a word.
_LONG_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class KnownSecrets:
    """Texts that nobody is to read. None at all changes nothing."""

    texts: frozenset[str] = frozenset()
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The longest first: one may be the beginning of another.
        forms = sorted({form for text in self.texts for form in _forms(text)}, key=len)[::-1]
        found = re.compile("|".join(map(_to_find, forms))) if forms else None
        object.__setattr__(self, "_pattern", found)

    def hide(self, text: str) -> str:
        """The text with a mask in place of each of them."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: mask_of(len(found[0])), text)

    def hide_in(self, value: JsonValue) -> JsonValue:
        """The same of every text in it, at any depth; also of names."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self.hide_in(one) for one in value]
        if isinstance(value, dict):
            return {self.hide(name): self.hide_in(one) for name, one in value.items()}
        return value

    def __or__(self, other: KnownSecrets) -> KnownSecrets:
        return KnownSecrets(self.texts | other.texts)


def secrets_of(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> KnownSecrets:
    """Those that ``hide_secrets`` masks in these arguments."""
    return KnownSecrets(frozenset(_masked(dict(args), hide_secrets(args, schema))))


def _masked(value: JsonValue, shown: JsonValue) -> Iterator[str]:
    if value == shown:
        return
    if isinstance(value, dict) and isinstance(shown, dict):
        for name, one in value.items():
            yield from _masked(one, shown.get(name))
    elif isinstance(value, list) and isinstance(shown, list):
        for one, other in zip(value, shown, strict=True):
            yield from _masked(one, other)
    else:
        kept = shown.find(MASK) if isinstance(shown, str) else 0
        yield from _texts_in(value[kept:] if isinstance(value, str) else value)


def _texts_in(value: JsonValue) -> Iterator[str]:
    """Whatever of it could be read somewhere else; whether something is so, or is not there, is no secret."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _texts_in(one)
    elif value is not None and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def _forms(text: str) -> Iterable[str]:
    """As it is, and as JSON and programmers write it."""
    return (
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
    )


def _to_find(text: str) -> str:
    found = re.escape(text)
    return found if len(text) >= _LONG_ENOUGH else rf"(?<!\w){found}(?!\w)"
