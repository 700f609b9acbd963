"""What is known of a call before it may run: its checked arguments and the policy's verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import JsonValue

from agent.errors import PilothouseError
from agent.rules.events import CallJudged
from agent.rules.ids import CallId, GrantId
from agent.rules.parts import Effect, Verdict


class InvalidCall(PilothouseError):
    """The arguments do not fit the tool; ``errors`` has a message for each field."""

    code = "invalid_args"

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in errors.items()))
        self.errors = dict(errors)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A call that could run, and what the policy says of it."""

    tool: str
    title: str
    effect: Effect
    #: Validated and in JSON form: what is stored, shown and run.
    args: dict[str, JsonValue]
    #: The JSON schema of the arguments.
    parameters: dict[str, Any]
    schema_digest: str
    verdict: Verdict
    can_preview: bool = False
    preview_must_match: bool = False
    is_question: bool = False

    def of(self, call_id: CallId, again_because: str | None = None) -> CallJudged:
        """The event that says so; ``again_because`` where a yes to it no longer holds."""
        return CallJudged(
            call_id=call_id,
            title=self.title,
            effect=self.effect,
            args=self.args,
            parameters=self.parameters,
            schema_digest=self.schema_digest,
            verdict=self.verdict,
            can_preview=self.can_preview,
            preview_must_match=self.preview_must_match,
            is_question=self.is_question,
            again_because=again_because,
        )

    def allowed_by(self, grant: GrantId) -> Judgement:
        """The same call under a grant."""
        verdict = self.verdict.model_copy(update={"action": "allow", "grant": grant})
        return replace(self, verdict=verdict)


class Judge(Protocol):
    """Checks arguments against a tool's schema and asks the policy, for one run."""

    def __call__(self, tool: str, args: Mapping[str, JsonValue]) -> Judgement:
        """Raises ``InvalidCall`` when the arguments do not fit."""
