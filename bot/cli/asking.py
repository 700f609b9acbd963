"""What waits for a person, in words for a terminal: what is asked, and how to decide it. Pure."""

from __future__ import annotations

from agent.rules.state import Approval, RunState
from agent.rules.values import show_args


def what_is_asked(approval: Approval, state: RunState) -> str:
    """In words: nobody can decide on an id."""
    asked = approval.requested
    where = f"for {state.requester}, {state.run_id}"
    if approval.kind == "question":
        return f"a question {where}: {asked.reason}{_options(approval)}"
    if approval.kind == "budget":
        return f"a budget {where}: {asked.reason} Asked for: {asked.args['more']} more."
    shown = show_args(asked.args, state.call(asked.of_call).parameters)
    values = ", ".join(f"{name} {value}" for name, value in shown.items())
    again = f" (asked again because {asked.again_because})" if asked.again_because else ""
    return f"{asked.tool} ({values}) {where}: {asked.reason}{again}"


def how_to_decide(approval: Approval, state: RunState) -> str:
    """The commands that do."""
    if approval.status == "expired":
        return f"Nobody decided in time. Ask again: pilothouse ask-again {approval.id}"
    match approval.kind:
        case "review":
            outcomes = "happened|not-happened|check|give-up"
            return f"Say what happened: pilothouse settle {approval.id} {outcomes}"
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
