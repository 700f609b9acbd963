"""A run as it may be shown: what its calls' arguments say is secret is masked wherever else it turns up, in the
agent's words, in what a tool returned, in an event.

Only for showing: what is decided, judged or carried out rests on the state and the journal as they are. The
arguments of calls stay, for a card and a form mask them themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from agent.rules.arguments import MalformedArguments, parse_arguments
from agent.rules.calls import Call
from agent.rules.events import Event, ModelReplied
from agent.rules.ids import ApprovalId
from agent.rules.json_text import dump_text
from agent.rules.known_secrets import KnownSecrets, secrets_of
from agent.rules.parts import ProposedCall
from agent.rules.secrets import hide_secrets
from agent.rules.state import Approval, RunState

#: What of an event are words, or what a tool gave; never an id.
_WORDS = frozenset(
    {
        *("again_because", "answer", "detail", "error", "guidance", "message", "note", "output"),
        *("preview", "prompt", "reason", "text"),
    }
)

#: Turns of other runs, what others had said, and files.
_PARTS = frozenset({"turns", "quoted", "files"})

#: By tool: the JSON schema of its arguments.
Schemas = Mapping[str, Mapping[str, Any]]


def known_in(state: RunState, schemas: Schemas | None = None) -> KnownSecrets:
    """Those among the arguments of the run's calls: as they were proposed, changed and asked about. ``schemas``
    tells them of calls that were never judged, and of those of runs before, as far as the tools are here."""
    texts: set[str] = set()
    for args, schema in _all_args(state, schemas or {}):
        texts |= secrets_of(args, schema).texts
    return KnownSecrets(frozenset(texts))


def veiled(state: RunState, known: KnownSecrets | None = None) -> RunState:
    """The run without them; itself where there are none."""
    known = known or known_in(state)
    if not known.texts:
        return state
    hide = known.hide
    return replace(
        state,
        prompt=hide(state.prompt),
        answer=None if state.answer is None else hide(state.answer),
        error=None if state.error is None else hide(state.error),
        model_error=None if state.model_error is None else hide(state.model_error),
        replies=tuple(replace(one, text=hide(one.text)) for one in state.replies),
        said=tuple(replace(one, text=hide(one.text)) for one in state.said),
        summary=None if state.summary is None else _veiled_part(state.summary, known),
        current={id: _veiled_call(call, known) for id, call in state.current.items()},
        earlier={id: _veiled_call(call, known) for id, call in state.earlier.items()},
        approvals={id: _veiled_approval(one, known) for id, one in state.approvals.items()},
    )


def veiled_event(event: Event, state: RunState, known: KnownSecrets) -> Event:
    """The event without them, ``state`` being the run's at any later time. Its arguments are masked as well."""
    names = type(event).model_fields
    words: dict[str, Any] = {
        name: known.hide_in(value)
        for name in names
        if name in _WORDS and (value := getattr(event, name)) is not None
    }
    args: Mapping[str, JsonValue] | None = getattr(event, "args", None)
    if args is not None:
        words["args"] = known.hide_in(hide_secrets(args, _schema_of(event, state)))
    if isinstance(event, ModelReplied):
        words["calls"] = tuple(_veiled_proposal(one, state, known) for one in event.calls)
    if (provider := getattr(event, "provider", None)) is not None:
        words["provider"] = provider.model_copy(update={"message": known.hide_in(provider.message)})
    for name in _PARTS & names.keys():
        words[name] = tuple(_veiled_part(part, known) for part in getattr(event, name))
    if (summary := getattr(event, "summary", None)) is not None:
        words["summary"] = _veiled_part(summary, known)
    return event.model_copy(update=words)


def _all_args(
    state: RunState, schemas: Schemas
) -> Iterator[tuple[Mapping[str, JsonValue], Mapping[str, Any]]]:
    for call in state.calls.values():
        declared = call.parameters or schemas.get(call.tool, {})
        yield call.args, declared
        if call.original_args is not None:
            yield call.original_args, declared
        yield _as_proposed(call.proposed), declared
    for turn in state.past.turns if state.past is not None else ():
        for past in turn.calls:
            yield _as_proposed(past.proposed), schemas.get(past.proposed.tool, {})
    for approval in state.approvals.values():
        if approval.kind not in ("call", "review"):
            continue
        schema = state.call(approval.requested.of_call).parameters
        yield approval.requested.args, schema
        if approval.decided is not None and approval.decided.args is not None:
            yield approval.decided.args, schema


def _as_proposed(proposed: ProposedCall) -> Mapping[str, JsonValue]:
    """What is no JSON has no names that would tell a secret."""
    try:
        return parse_arguments(proposed.arguments)
    except MalformedArguments:
        return {}


def _veiled_call(call: Call, known: KnownSecrets) -> Call:
    result, proposed = call.result, call.proposed
    if not call.parameters:
        # It was refused before anything was known of its arguments, and they are shown as they were proposed.
        hidden = known.hide(proposed.arguments)
        proposed = proposed.model_copy(update={"arguments": hidden})
    return replace(
        call,
        proposed=proposed,
        detail=known.hide(call.detail),
        progress=None if call.progress is None else known.hide(call.progress),
        preview_error=None if call.preview_error is None else known.hide(call.preview_error),
        result=None if result is None else replace(result, output=known.hide_in(result.output)),
    )


def _veiled_approval(approval: Approval, known: KnownSecrets) -> Approval:
    """The agent's own question, and what was said with the decision. What else is asked is left as whoever decides
    has to see it: of its own call's secrets it is free."""
    asked = approval.requested
    if approval.kind == "question" and "question" in asked.args:
        args = {**asked.args, "question": known.hide_in(asked.args["question"])}
        changed = {"args": args, "reason": known.hide(asked.reason)}
        approval = replace(approval, requested=asked.model_copy(update=changed))
    if approval.decided is None:
        return approval
    words = {
        name: known.hide(value)
        for name in ("note", "reason", "guidance", "text")
        if isinstance(value := getattr(approval.decided, name), str)
    }
    return replace(approval, decided=approval.decided.model_copy(update=words))


def _veiled_proposal(proposed: ProposedCall, state: RunState, known: KnownSecrets) -> ProposedCall:
    call = state.calls.get(proposed.call_id)
    args = _as_proposed(proposed)
    shown = dump_text(hide_secrets(args, call.parameters if call else {})) if args else ""
    return proposed.model_copy(update={"arguments": known.hide(shown or proposed.arguments)})


def _veiled_part(part: Any, known: KnownSecrets) -> Any:
    """All of it, at any depth; its ids are no words, and too long to be taken for a secret."""
    return type(part).model_validate(known.hide_in(part.model_dump(mode="json")))


def _schema_of(event: Event, state: RunState) -> Mapping[str, Any]:
    own: Mapping[str, Any] | None = getattr(event, "parameters", None)
    if own is not None:
        return own
    call_id = getattr(event, "call_id", None)
    approval_id: ApprovalId | None = getattr(event, "approval_id", None)
    approval = None if approval_id is None else state.approvals.get(approval_id)
    if call_id is None and approval is not None:
        call_id = approval.requested.call_id
    call = state.calls.get(call_id) if call_id else None
    return call.parameters if call else {}
