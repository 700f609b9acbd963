"""What waits for a person, in words for a terminal: what is asked, and how to decide it. Pure."""

from __future__ import annotations

from agent.rules.dry_run import is_of_a_dry_run
from agent.rules.parts import ApprovalKind
from agent.rules.state import Approval, RunState
from agent.rules.taint import taints_in_words
from agent.rules.undecided import is_to_be_asked_again
from agent.rules.values import show_args
from bot.cli.names import name_of
from bot.cli.plain import in_short, reason_in_short

_OUTCOMES = "happened|not-happened|check|give-up"
#: Of one value, and of all that is asked, on a line beside other things; whole they are in `show`.
_VALUE_LIMIT = 60
_ASKED_LIMIT = 300

_KINDS: dict[ApprovalKind, str] = {
    "call": "call",
    "question": "question",
    "review": "did it happen?",
    "budget": "budget",
}


def kind_in_words(approval: Approval) -> str:
    """What kind of question it is."""
    return _KINDS[approval.kind]


def asked_in_short(approval: Approval, state: RunState) -> str:
    """In words, as nobody can decide on an id; what is long is cut short."""
    where = f"for {name_of(state.requester)}, {state.run_id}"
    reason = "" if approval.kind in ("question", "budget") else f": {approval.requested.reason}"
    dry = "dry run: " if is_of_a_dry_run(approval, state) else ""
    after = _after(approval, state)
    return in_short(f"{dry}{_what(approval, state)} {where}{after}{reason}", _ASKED_LIMIT)


def _after(approval: Approval, state: RunState) -> str:
    """What the agent had read of others' words before it proposed the call."""
    call_id = approval.requested.call_id
    verdict = state.call(call_id).verdict if call_id is not None else None
    read = taints_in_words(verdict.tainted_by, name=name_of) if verdict else ""
    return f", after {in_short(read, _VALUE_LIMIT)}" if read else ""


def _what(approval: Approval, state: RunState) -> str:
    asked = approval.requested
    reason = reason_in_short(asked.reason)
    if approval.kind == "question":
        return f"{reason}{_options(approval)}"
    if approval.kind == "budget":
        return f"{reason} Asked for: {asked.args['more']} more."
    shown = show_args(asked.args, state.call(asked.of_call).parameters)
    values = ", ".join(f"{name} {in_short(value, _VALUE_LIMIT)}" for name, value in shown.items())
    return f"{asked.tool} ({values})"


def command_for(approval: Approval, state: RunState) -> str:
    """The command that decides it, for whoever sees its id beside; empty where nothing is to be decided."""
    if is_to_be_asked_again(state, approval):
        return "ask-again ID"
    if approval.status != "pending":
        return ""
    return {
        "call": "approve ID",
        "question": "answer ID TEXT",
        "review": f"settle ID {_OUTCOMES}",
        "budget": "approve ID",
    }[approval.kind]


def how_to_decide(approval: Approval, state: RunState) -> str:
    """The commands that do."""
    if approval.status == "expired":
        return f"Nobody decided in time. Ask again: pilothouse ask-again {approval.id}"
    match approval.kind:
        case "review":
            return f"Say what happened: pilothouse settle {approval.id} {_OUTCOMES}"
        case "question":
            return f"Answer: pilothouse answer {approval.id} TEXT{_options(approval)}"
        case "budget":
            return (
                f"Let it go on: pilothouse approve {approval.id} [--more N]"
                f"   or stop it: pilothouse deny {approval.id}"
            )
        case "call":
            may_change = not state.call(approval.requested.of_call).may_have_happened
            return (
                f"Decide: pilothouse approve {approval.id}"
                f"   or: deny {approval.id} --reason WHY"
                f"   or: steer {approval.id} {'--set NAME=VALUE' if may_change else '--guidance TEXT'}"
            )


def _options(approval: Approval) -> str:
    given = approval.requested.args.get("options")
    options = [str(option) for option in given] if isinstance(given, list) else []
    if not options:
        return ""
    is_free = bool(approval.requested.args.get("free_text"))
    return f" ({'such as' if is_free else 'one of'}: {', '.join(options)})"
