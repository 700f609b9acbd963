"""``@tool``: a typed function becomes something that an agent can be given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, get_type_hints, overload

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from agent.errors import ConfigError
from agent.ports import ToolSpec
from agent.rules.binding import digest
from agent.rules.judgement import InvalidCall
from agent.rules.parts import Effect
from agent.tools.context import ToolContext
from agent.tools.running import call_plainly
from agent.tools.trying_out import what_is_not_kept
from agent.tools.wording import messages_of
from agent.tools.writing_down import why_not_kept

DEFAULT_TIMEOUT = timedelta(seconds=60)

#: True: ask; False: allow; a predicate of the arguments: ask where it is true or raises; None: ask.
Approval = bool | Callable[..., bool] | None
Reconcile = Callable[..., Any]
Preview = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A declared tool. Calling it calls the function itself, as a test of it would."""

    name: str
    title: str
    description: str
    function: Callable[..., Any]
    arguments: type[BaseModel]
    parameters: dict[str, Any]
    schema_digest: str
    approval: Approval
    effect: Effect
    reconcile: Reconcile | None
    preview: Preview | None
    #: Must the preview still be the same when the call starts?
    preview_must_match: bool
    timeout: timedelta
    #: The name of the function's ``ToolContext`` parameter, if it has one.
    context_name: str | None
    #: It is never carried out: its arguments are a question to people, their answer its result.
    is_question: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    def check(self, args: Mapping[str, JsonValue]) -> BaseModel:
        """The arguments as typed values. Raises ``InvalidCall`` with a message for each field."""
        try:
            checked = self.arguments.model_validate(dict(args))
        except ValidationError as error:
            raise InvalidCall(messages_of(error)) from error
        except Exception as error:
            # A validator of the tool's own raised it, whatever it is.
            what = f"The tool's own check of them failed: {type(error).__name__}."
            raise InvalidCall({"arguments": what}) from error
        if errors := why_not_kept(checked):
            raise InvalidCall(errors)
        return checked

    def may_ask(self) -> bool:
        """Can its own word, where no rule matches, be to ask?"""
        return self.approval is not False

    def asks(self, checked: BaseModel) -> tuple[bool, str]:
        """Its own word on these arguments, and why."""
        if self.approval is None:
            return True, "no rule covers it, and the tool does not say that it is safe"
        if isinstance(self.approval, bool):
            return self.approval, f"{self.title} always needs a yes" if self.approval else ""
        try:
            asks = bool(call_plainly(self.approval, **_values(checked)))
        except Exception as error:
            return True, f"the tool's own check failed: {type(error).__name__}"
        return asks, f"the tool asks for a yes to these values of {self.title}" if asks else ""

    def bind(self, checked: BaseModel, context: ToolContext) -> dict[str, Any]:
        """The keyword arguments of the function."""
        values = _values(checked)
        if self.context_name is not None:
            values[self.context_name] = context
        return values


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    title: str | None = None,
    approval: Approval = None,
    effect: Effect = "once",
    reconcile: Reconcile | None = None,
    preview: Preview | None = None,
    preview_must_match: bool = False,
    timeout: timedelta | float = DEFAULT_TIMEOUT,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    title: str | None = None,
    approval: Approval = None,
    effect: Effect = "once",
    reconcile: Reconcile | None = None,
    preview: Preview | None = None,
    preview_must_match: bool = False,
    timeout: timedelta | float = DEFAULT_TIMEOUT,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a tool. Its name, description and arguments come from the function and its docstring.

    ``effect`` says what may be done when nobody knows whether a call went through: ``read`` (run it
    again), ``idempotent`` (run it again with the same operation id), ``once`` (look it up with
    ``reconcile(operation_id)``, which returns ``Committed``, or ``Rejected`` for "it did not
    happen", or None for "can't tell"; without one a person is asked). ``preview`` is called with the
    arguments and says in words what would happen; with ``preview_must_match`` it is called once more
    when the call is to start, and people are asked again if it says something else. ``timeout`` is in
    seconds or a ``timedelta``.

    Raises ``ConfigError`` for a function that can't be a tool.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        return _declare(
            function,
            title=title,
            approval=approval,
            effect=effect,
            reconcile=reconcile,
            preview=preview,
            preview_must_match=preview_must_match,
            timeout=timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout),
        )

    return declare if function is None else declare(function)


def _declare(function: Callable[..., Any], *, title: str | None, **declared: Any) -> Tool:
    name = function.__name__
    doc = docstring_parser.parse(inspect.getdoc(function) or "")
    if not doc.short_description:
        raise ConfigError(f"The tool {name} needs a docstring: the model reads it.")
    if declared["effect"] not in ("read", "idempotent", "once"):
        raise ConfigError(
            f"The tool {name} has the effect {declared['effect']!r}; say read, idempotent or once."
        )
    if inspect.iscoroutinefunction(declared["approval"]):
        raise ConfigError(
            f"The tool {name} has an async approval; a predicate must be a plain function."
        )
    if declared["preview_must_match"] and declared["preview"] is None:
        raise ConfigError(f"The tool {name} has no preview that could match.")
    if declared["timeout"] <= timedelta():
        raise ConfigError(f"The tool {name} needs a timeout above zero.")
    described = {p.arg_name: p.description for p in doc.params if p.description}
    arguments, context_name = _arguments_of(function, described)
    for field, why in what_is_not_kept(arguments).items():
        raise ConfigError(f"The tool {name} can't have the parameter {field}: {why}.")
    parameters = arguments.model_json_schema()
    parameters.pop("title", None)
    return Tool(
        name=name,
        title=title or name.replace("_", " ").capitalize(),
        description=_description(doc),
        function=function,
        arguments=arguments,
        parameters=parameters,
        schema_digest=digest(parameters),
        context_name=context_name,
        **declared,
    )


def _arguments_of(
    function: Callable[..., Any], described: Mapping[str, str]
) -> tuple[type[BaseModel], str | None]:
    """A model of the function's parameters, and the name of the one that takes the context."""
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    context_name: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        if hints.get(parameter.name) is ToolContext:
            context_name = parameter.name
            continue
        if parameter.name not in hints or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
            parameter.POSITIONAL_ONLY,
        ):
            raise ConfigError(
                f"The tool {name} needs a plain, typed parameter in place of {parameter}."
            )
        fields[parameter.name] = (hints[parameter.name], _field(parameter, described))
    try:
        model = create_model(f"{name}_arguments", __config__=_STRICT_NAMES, **fields)
        model.model_json_schema()
    except (PydanticUserError, TypeError, NameError, ValueError) as error:
        raise ConfigError(
            f"The tool {name} has a parameter that can't be described: {error}"
        ) from error
    return model, context_name


# A default is a value like any other: it is written down, and read again as the type that is declared.
_STRICT_NAMES = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def _field(parameter: inspect.Parameter, described: Mapping[str, str]) -> FieldInfo:
    default = ... if parameter.default is parameter.empty else parameter.default
    field: FieldInfo = Field(default, description=described.get(parameter.name))
    return field


def _description(doc: docstring_parser.Docstring) -> str:
    parts = (doc.short_description, doc.long_description)
    return "\n\n".join(part for part in parts if part)


def _values(checked: BaseModel) -> dict[str, Any]:
    return {name: getattr(checked, name) for name in type(checked).model_fields}
