"""What a tool raises to say what became of its effect."""

from __future__ import annotations

from agent.errors.root import PilothouseError


class ToolSignal(PilothouseError):
    """Raised by a tool to say what became of its effect."""


class Rejected(ToolSignal):
    """The outside system refused, and nothing happened. The text is told to the model."""

    code = "rejected"


class Interrupted(ToolSignal):
    """Leave the call open as a crash would; it is recovered after its deadline."""

    code = "interrupted"
