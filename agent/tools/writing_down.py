"""Checked arguments in JSON form, as the journal keeps them and the hash covers them, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel, JsonValue, RootModel, SecretBytes, SecretStr, ValidationError
from rfc8785 import FloatDomainError, IntegerDomainError

from agent.rules.binding import digest
from agent.rules.json_text import dump_text

_TOO_LARGE = "This number is too large: at most 9,007,199,254,740,991 can be kept exactly."
_NO_NUMBER = "This is no number."
_NESTED = "It is nested too deeply."
_OTHER = "Written down and read again, it would be another value."


def write_down(checked: BaseModel, only: str | None = None) -> dict[str, JsonValue]:
    """The arguments in JSON form, or ``only`` one of them, by the names of the schema, and with the real
    values of secrets.

    Raises whatever a value raises that can't be written."""
    plain = checked.model_dump(
        mode="json", by_alias=True, round_trip=True, include=None if only is None else {only}
    )
    written = _real(checked, plain)
    assert isinstance(written, dict)
    return written


def why_not_kept(checked: BaseModel) -> dict[str, str]:
    """A sentence for each argument that has no canonical form, or is another once it was written down
    and read again: a call would run with something else than what was approved."""
    try:
        written = write_down(checked)
        digest(written)
        again = type(checked).model_validate(written)
        return {name: _OTHER for name in _names(checked) if not _is_same(name, checked, again)}
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        return {str(one["loc"][0]) if one["loc"] else "arguments": _OTHER for one in problems}
    except Exception as error:
        # Whatever a foreign value raises when it is written, read or compared.
        each = {name: _why_not_written(checked, name) for name in _names(checked)}
        found = {name: why for name, why in each.items() if why is not None}
        return found or {"arguments": _in_words(error)}


def _names(checked: BaseModel) -> list[str]:
    return list(type(checked).model_fields)


def _is_same(name: str, one: BaseModel, other: BaseModel) -> bool:
    return bool(getattr(one, name) == getattr(other, name))


def _why_not_written(checked: BaseModel, name: str) -> str | None:
    try:
        written = write_down(checked, name)
    except Exception as error:
        return _in_words(error)
    return why_no_canonical_form(written)


def why_no_canonical_form(value: JsonValue) -> str | None:
    """A sentence for a value in JSON form that no hash can be made of; None where one can."""
    try:
        digest(value)
    except Exception as error:
        return _in_words(error)
    return None


def _in_words(error: Exception) -> str:
    match error:
        case IntegerDomainError():
            return _TOO_LARGE
        case FloatDomainError():
            return _NO_NUMBER
        case RecursionError():
            return _NESTED
        case _:
            return "It can't be written down."


def _real(value: Any, plain: JsonValue) -> JsonValue:
    """``plain``, which is what pydantic writes of ``value``, with secrets as they are, and sets in an order
    that does not depend on the process."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, SecretBytes):
        return value.get_secret_value().decode()
    if isinstance(value, RootModel):
        return _real(value.root, plain)
    if isinstance(plain, dict):
        parts = _parts(value)
        return {name: _real(parts[name], v) if name in parts else v for name, v in plain.items()}
    if isinstance(plain, list) and isinstance(value, list | tuple | set | frozenset):
        written = [_real(one, v) for one, v in zip(value, plain, strict=True)]
        return sorted(written, key=dump_text) if isinstance(value, set | frozenset) else written
    return plain


def _parts(value: Any) -> Mapping[str, Any]:
    """By the names under which they are written; what is missing here stays as pydantic writes it."""
    if isinstance(value, BaseModel):
        declared = type(value).model_fields
        own = {
            one.serialization_alias or name: getattr(value, name) for name, one in declared.items()
        }
        return {**own, **(value.model_extra or {})}
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: part for name, part in value.items() if isinstance(name, str)}
    return {}
