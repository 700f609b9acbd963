"""What a function's signature says of it as a tool: its arguments, who gets the context, and what does not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from agent.tools.context import ToolContext
from agent.tools.trying_out import what_is_not_kept

# A default is a value like any other: it is written down, and read again as the type that is declared.
_STRICT_NAMES = ConfigDict(extra="forbid", frozen=True, validate_default=True)
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(slots=True)
class Signature:
    """What was found of a function."""

    arguments: type[BaseModel] = BaseModel
    parameters: dict[str, Any] = field(default_factory=dict)
    #: The name of the parameter that takes the context.
    context_name: str | None = None
    #: What is said behind the tool's name.
    mistakes: list[str] = field(default_factory=list)


def read_signature(function: Callable[..., Any], described: Mapping[str, str]) -> Signature:
    """``described``: what the docstring says of each parameter."""
    found = Signature()
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        # A name that is imported for type checkers only, say; an annotation is any code.
        why = f"{type(error).__name__}: {error}"
        found.mistakes.append(
            f"has an annotation that can't be read ({why}). Import what it names for real."
        )
        return found
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if _is_context(hint):
            if found.context_name is not None:
                found.mistakes.append("has two parameters of the type ToolContext; one is enough.")
            found.context_name = parameter.name
        elif mistake := _mistake_in(parameter, hint):
            found.mistakes.append(mistake)
        else:
            fields[parameter.name] = (hint, _field(parameter, described))
    if not found.mistakes:
        _describe(found, function, fields)
    return found


def why_not_called(
    what: str, called: Callable[..., Any], names: Collection[str], *, by_name: bool = True
) -> Iterator[str]:
    """Why this function of a tool's can't be called with these arguments; nothing where it can."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return  # Of what is written in C nothing is known.
    try:
        signature.bind(**dict.fromkeys(names)) if by_name else signature.bind(*names)
    except TypeError as error:
        given = ", ".join(f"{name}=…" for name in names) if by_name else ", ".join(names)
        yield f"calls its {what} as {what}({given}), and it takes other arguments: {error}."


def _is_context(hint: Any) -> bool:
    """Also where it may be None, or something is said of it: the model must never be asked for it."""
    if get_origin(hint) is Annotated:
        return _is_context(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return any(map(_is_context, get_args(hint)))
    return hint is ToolContext


def _mistake_in(parameter: inspect.Parameter, hint: Any) -> str | None:
    name = parameter.name
    if parameter.kind in _STARRED:
        stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        return (
            f"has the parameter {stars}{name}: a model has to be told each argument by its name; "
            "take a list or a model in place of it."
        )
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return f"takes {name} by its place alone; arguments are given by name, so take out the “/”."
    if hint is None:
        return f"has the parameter {name} without a type; write {name}: str, say."
    return None


def _describe(found: Signature, function: Callable[..., Any], fields: dict[str, Any]) -> None:
    try:
        model = create_model(f"{function.__name__}_arguments", __config__=_STRICT_NAMES, **fields)
        parameters = model.model_json_schema()
    except (PydanticUserError, TypeError, NameError, ValueError) as error:
        why = str(error).splitlines()[0]
        found.mistakes.append(f"has a parameter that can't be described: {why}")
        return
    parameters.pop("title", None)
    found.arguments, found.parameters = model, parameters
    for name, why in what_is_not_kept(model).items():
        found.mistakes.append(f"can't have the parameter {name}: {why}.")


def _field(parameter: inspect.Parameter, described: Mapping[str, str]) -> FieldInfo:
    default = ... if parameter.default is parameter.empty else parameter.default
    made: FieldInfo = Field(default, description=described.get(parameter.name))
    return made
