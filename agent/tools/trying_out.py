"""A tool's parameters, tried out when it is declared: is what they are given kept as it is?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError, create_model

from agent.tools.samples import samples
from agent.tools.writing_down import why_not_kept

#: Values tried of one parameter.
_TRIED = 20


def what_is_not_kept(arguments: type[BaseModel]) -> dict[str, str]:
    """By parameter, as a clause: why a call could run with another value than the one that was approved.

    What its schema alone does not tell, such as a value that a pattern wants, is found out by the call."""
    found: dict[str, str] = {}
    for name, field in arguments.model_fields.items():
        one: Any = (field.annotation, field)
        alone = create_model(f"{name}_alone", __config__=arguments.model_config, **{name: one})
        if why := _why_not(alone, is_required=field.is_required()):
            found[name] = why
    return found


def _why_not(alone: type[BaseModel], *, is_required: bool) -> str | None:
    """Of a model with one field."""
    if not is_required and (why := _of_default(alone)):
        return why
    schema = alone.model_json_schema()
    (name, declared), *_ = schema["properties"].items()
    for _, value in zip(range(_TRIED), samples(declared, schema), strict=False):
        checked = _checked(alone, {name: value})
        if checked is not None and why_not_kept(checked):
            return f"given {value!r}, it would be another value once it was written down and read again"
    return None


def _of_default(alone: type[BaseModel]) -> str | None:
    try:
        checked = alone.model_validate({})
    except ValidationError as error:
        return f"its default does not fit its type: {error.errors(include_url=False)[0]['msg']}"
    except Exception as error:
        # A validator of the tool's own raised it, whatever it is.
        return f"its default does not fit: {type(error).__name__}"
    return "its default can't be written down and read again" if why_not_kept(checked) else None


def _checked(alone: type[BaseModel], args: Mapping[str, Any]) -> BaseModel | None:
    try:
        return alone.model_validate(args)
    except Exception:
        # It does not fit; and a validator of the tool's own may raise anything.
        return None
