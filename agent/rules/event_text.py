"""Events straight from their text, at half the price.

What a text says is said by ``load_event`` of its JSON values. Pydantic reads some texts in one go, without them, where
that makes no difference; of all others ``read_own`` says nothing, and whoever asks goes the long way.

The two readers differ in which numbers there are: for pydantic ``1e999`` is one. So a field that may hold any value has
to be a string, or nothing. They differ in numbers that stand for a ``Decimal`` too; these are written as strings.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from agent.rules.events import Event
from agent.rules.parts import EventBase
from agent.rules.upcasts import STEPS

_MODELS: tuple[type[EventBase], ...] = get_args(get_args(Event)[0])
#: What may hold numbers that are no whole ones.
_ANY = (Any, JsonValue, float)


def read_own(kind: str, version: int, text: str) -> Event | None:
    """The event of this kind whose text this is, without ``kind`` and ``version``. None: it takes more care; whether
    it is an event at all is not said."""
    one = _READ_BY.get(kind)
    if one is None:
        return None
    newest, validator, may_be_anything = one
    if version > newest or (kind, version) in STEPS:
        return None
    for name, nothing, words in may_be_anything:
        # A name that is escaped would not be seen.
        if text.count(name) != 1 or not (nothing in text or words in text) or "\\u" in text:
            return None
    try:
        event: Event = validator.validate_json(text)
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


def _read_by(model: type[EventBase]) -> tuple[int, SchemaValidator, list[tuple[str, str, str]]]:
    """The newest version, what reads it, and of each field that may be anything how it begins, as such, as nothing and
    as a string."""
    fields = model.model_fields.items()
    names = [f'"{name}":' for name, one in fields if _may_be_anything(one.annotation)]
    anything = [(name, f"{name}null", f'{name}"') for name in names]
    return model.NEWEST, TypeAdapter(model).validator, anything


_READ_BY = {model.model_fields["kind"].default: _read_by(model) for model in _MODELS}
