"""What a call is called where people read of it: never by a machine's name."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.state import RunState


def title_of_call(call: Call, state: RunState) -> str:
    """As its tool is titled. Where the run ended before that was known of it, as another call of the same tool was,
    else its tool's name in words. As it stands: for markup it is still to be escaped."""
    if call.title:
        return call.title
    alike = (one.title for one in state.calls.values() if one.tool == call.tool)
    # That of a server's tool is its name as it is.
    is_ours = "." not in call.tool
    in_words = call.tool.replace("_", " ").strip().capitalize() if is_ours else call.tool
    return next(filter(None, alike), "") or in_words or "A tool without a name"
