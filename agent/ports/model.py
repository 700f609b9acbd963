"""What is asked of a model, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.rules.parts import Usage
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


class ModelUnavailable(Exception):
    """The model could not answer now; ``retry_after`` seconds when it said how long, or None for the
    caller's own back-off. Any other exception of a model is final."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Model(Protocol):
    """Asks a model. It may be asked the same twice: after a crash nobody knows of the first time."""

    @property
    def name(self) -> str: ...

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Raises ``ModelUnavailable``."""
