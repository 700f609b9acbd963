"""Events straight from their text, at half the price.

What a text says is said by ``load_event`` of its JSON values. Pydantic reads some texts in one go, without them, where
that makes no difference; of all others ``read_own`` says nothing, and whoever asks goes the long way.

The two readers differ in which numbers there are: for pydantic ``1e999`` is one. So a field that may hold any value has
to be a string, or nothing. They differ in numbers that stand for a ``Decimal`` too; these are written as strings. In a
field that this build does not know, and leaves out, ``1e999`` is not looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from agent.rules.events import MODELS, Event
from agent.rules.parts import EventBase
from agent.rules.upcasts import STEPS

#: Numbers for pydantic, in a field that is left out too, and none of JSON. As words in a string they cost the long way.
_NO_NUMBERS = ("NaN", "Infinity")
#: What may hold numbers that are no whole ones.
_ANY = (Any, JsonValue, float)


class _Kind(NamedTuple):
    """A kind of events: its newest version, and what reads it."""

    newest: int
    read: Callable[[str], Any]
    #: Of each field that may be anything: how it begins, as such, as nothing and as a string.
    may_be_anything: list[tuple[str, str, str]]


def read_own(kind: str, version: int, text: str) -> Event | None:
    """The event of this kind whose text this is, without ``kind`` and ``version``. None: it takes more care; whether
    it is an event at all is not said."""
    known = _KINDS.get(kind)
    if known is None or version > known.newest or (kind, version) in STEPS:
        return None
    if any(word in text for word in _NO_NUMBERS):
        return None
    for name, nothing, words in known.may_be_anything:
        # A name that is escaped would not be seen.
        if text.count(name) != 1 or not (nothing in text or words in text) or "\\u" in text:
            return None
    try:
        event: Event = known.read(text)
    except ValidationError:
        return None
    # It would count instead of the one that stood ahead of them.
    return None if "version" in event.model_fields_set else event


def _may_be_anything(annotation: Any) -> bool:
    if annotation in _ANY:
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return any(_may_be_anything(one.annotation) for one in annotation.model_fields.values())
    return any(_may_be_anything(one) for one in get_args(annotation))


def _kind_of(model: type[EventBase]) -> _Kind:
    fields = model.model_fields.items()
    names = [f'"{name}":' for name, one in fields if _may_be_anything(one.annotation)]
    anything = [(name, f"{name}null", f'{name}"') for name in names]
    return _Kind(model.NEWEST, TypeAdapter(model).validator.validate_json, anything)


_KINDS = {model.model_fields["kind"].default: _kind_of(model) for model in MODELS}
