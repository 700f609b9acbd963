"""``@tool``: a typed function becomes something that an agent can be given."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, overload

import docstring_parser
from pydantic import BaseModel, JsonValue, ValidationError

from agent.errors import ConfigError
from agent.ports import ToolSpec
from agent.rules.binding import digest
from agent.rules.judgement import InvalidCall
from agent.rules.parts import Effect
from agent.tools.context import ToolContext
from agent.tools.mistakes import refuse
from agent.tools.running import call_plainly
from agent.tools.signature import Signature, read_signature, why_not_called
from agent.tools.wording import messages_of
from agent.tools.writing_down import why_not_kept

DEFAULT_TIMEOUT = timedelta(seconds=60)
#: By a longer one the calendar could end.
_LONGEST = timedelta(days=366)
#: What every provider takes for a name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

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
    #: What it gives is in words of whom nobody vouches for: whatever is called after it is tainted.
    is_untrusted: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    @property
    def needs_a_yes(self) -> str | None:
        """See ``AgentTool``."""
        return "says itself that it needs a yes each time" if self.approval is True else None

    @property
    def always_has(self) -> frozenset[str]:
        """See ``AgentTool``: what a call leaves out is filled in."""
        return frozenset(self.parameters.get("properties", {}))

    def check(self, args: Mapping[str, JsonValue]) -> BaseModel:
        """The arguments as typed values. Raises ``InvalidCall`` with a message for each field."""
        try:
            checked = call_plainly(self.arguments.model_validate, dict(args))
            errors = call_plainly(why_not_kept, checked)
        except ValidationError as error:
            raise InvalidCall(messages_of(error)) from error
        except Exception as error:
            # A validator of the tool's own raised it, whatever it is.
            what = f"The tool's own check of them failed: {type(error).__name__}."
            raise InvalidCall({"arguments": what}) from error
        if errors:
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
    untrusted: bool = False,
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
    untrusted: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a tool. Its name, description and arguments come from the function and its docstring.

    ``effect`` says what may be done when nobody knows whether a call went through: ``read`` (run it
    again), ``idempotent`` (run it again with the same operation id), ``once`` (look it up with
    ``reconcile(operation_id)``, which returns ``Committed``, or ``Rejected`` for "it did not
    happen", or None for "can't tell"; without one a person is asked). ``preview`` is called with the
    arguments and says in words what would happen; with ``preview_must_match`` it is called once more
    when the call is to start, and people are asked again if it says something else. ``timeout`` is in
    seconds or a ``timedelta``. ``untrusted`` says that what it gives is in words of whom nobody vouches for, such as a
    page of the web: what the model calls after it is ``tainted``, and a rule may ask then.

    Raises ``ConfigError`` for a function that can't be a tool.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        return _declare(
            function,
            title=title,
            timeout=timeout,
            approval=approval,
            effect=effect,
            reconcile=reconcile,
            preview=preview,
            preview_must_match=preview_must_match,
            is_untrusted=untrusted,
        )

    return declare if function is None else declare(function)


def _declare(
    function: Callable[..., Any], *, title: Any, timeout: timedelta | float, **declared: Any
) -> Tool:
    if not inspect.isroutine(function):
        raise ConfigError(
            f"@tool takes a function, and was given {_kind_of(function)}. Write a function that calls it."
        )
    name = function.__name__
    doc = docstring_parser.parse(inspect.getdoc(function) or "")
    found = read_signature(
        function, {p.arg_name: p.description for p in doc.params if p.description}
    )
    mistakes = [
        *_mistakes_of_function(function, doc),
        *found.mistakes,
        *_mistakes_of_declaration(declared, found),
    ]
    bounded = _bounded(timeout)
    if title is not None and not isinstance(title, str):
        mistakes.append(f"has the title {title!r}, which is no text.")
    if bounded is None:
        mistakes.append(
            f"needs a timeout above zero, in seconds or a timedelta, not {timeout!r}. The longest is a year."
        )
    if mistakes:
        refuse(function, name, mistakes)
    return Tool(
        name=name,
        title=title or name.replace("_", " ").capitalize(),
        description=_description(doc),
        function=function,
        arguments=found.arguments,
        parameters=found.parameters,
        schema_digest=digest(found.parameters),
        context_name=found.context_name,
        timeout=bounded or DEFAULT_TIMEOUT,
        **declared,
    )


def _kind_of(what: object) -> str:
    if isinstance(what, Tool):
        return f"{what.name}, which is a tool already"
    return f"an object of the type {type(what).__name__}"


def _mistakes_of_function(
    function: Callable[..., Any], doc: docstring_parser.Docstring
) -> Iterator[str]:
    if not doc.short_description:
        yield "needs a docstring: the model reads it."
    if not _NAME.fullmatch(function.__name__):
        yield "needs a name of up to 64 letters (a to z), digits and “_”: models take no other."
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield "yields: it has to return its result, and may tell how far it is with context.progress."


def _mistakes_of_declaration(declared: Mapping[str, Any], found: Signature) -> Iterator[str]:
    effect, approval, preview = declared["effect"], declared["approval"], declared["preview"]
    if effect not in ("read", "idempotent", "once"):
        yield f"has the effect {effect!r}; say read, idempotent or once."
    if effect == "idempotent" and found.context_name is None:
        yield (
            "is idempotent, and has no parameter of the type ToolContext: it may be run twice for one call, "
            "and only context.operation_id, sent along, tells that apart from two calls. "
            "Take the context, or say once."
        )
    if inspect.iscoroutinefunction(approval):
        yield "has an async approval; a predicate must be a plain function."
    if declared["preview_must_match"] and preview is None:
        yield "has no preview that could match."
    if not isinstance(declared["is_untrusted"], bool):
        yield f"has {declared['is_untrusted']!r} for untrusted; say True or False."
    names = tuple(found.arguments.model_fields)
    if not (approval is None or isinstance(approval, bool) or callable(approval)):
        yield f"has the approval {approval!r}; say True, False or a predicate of its arguments."
    for what in ("preview", "reconcile"):
        if declared[what] is not None and not callable(declared[what]):
            yield f"has the {what} {declared[what]!r}, which is no function."
    if callable(approval) and not found.mistakes:
        yield from why_not_called("approval", approval, names)
    if callable(preview) and not found.mistakes:
        yield from why_not_called("preview", preview, names)
    if callable(declared["reconcile"]):
        yield from why_not_called(
            "reconcile", declared["reconcile"], ("operation_id",), by_name=False
        )


def _bounded(timeout: timedelta | float) -> timedelta | None:
    try:
        bounded = timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout)
    except (TypeError, ValueError, OverflowError):
        return None
    return bounded if timedelta() < bounded <= _LONGEST else None


def _description(doc: docstring_parser.Docstring) -> str:
    parts = (doc.short_description, doc.long_description)
    return "\n\n".join(part for part in parts if part)


def _values(checked: BaseModel) -> dict[str, Any]:
    return {name: getattr(checked, name) for name in type(checked).model_fields}
