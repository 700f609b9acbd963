"""What is asked of a model, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agent.rules.parts import ProviderState, Usage
from agent.rules.transcript import Message


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """All that a model is told."""

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    #: Nobody's turn in the conversation: its older part is to be summed up.
    is_for_summary: bool = False


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as the model wrote it; ``arguments`` is the text that is to be JSON."""

    model_call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    #: What the model wants to have back with the next request.
    provider: ProviderState | None = None


class ModelUnavailable(Exception):
    """The model could not answer now; ``retry_after`` seconds when it said how long, or None for the
    caller's own back-off. ``usage``: of an answer that came and could not be taken. Any other exception of a
    model is final."""

    def __init__(
        self, message: str, retry_after: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.usage = usage


class ModelRefused(Exception):
    """The same request would get no other answer; the words say what to do about it, to people. ``usage`` as
    above."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class ContextOverflow(ModelRefused):
    """It was more than the model can read at once: told less, it may answer."""


class Model(Protocol):
    """Asks a model. It may be asked the same twice: after a crash nobody knows of the first time."""

    @property
    def name(self) -> str: ...

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Raises ``ModelUnavailable``, ``ModelRefused``, ``ContextOverflow``."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What is missing where a model is to be asked, and what to do about it."""

    message: str
    fix: str


@runtime_checkable
class NeedsCredentials(Protocol):
    """A model that can't be asked everywhere."""

    def lacks(self) -> Lack | None:
        """What it lacks in this process, as far as can be told at once, without asking anybody."""
