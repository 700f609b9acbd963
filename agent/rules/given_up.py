"""Why a run is given up that could go on: the words of the journal, and how they are known again."""

from __future__ import annotations

import re

from agent.rules.state import RunState


def no_progress(times: int, why: str) -> str:
    """It was taken up again and again."""
    return f"It was taken up {times} times without any progress ({why})."


def never_ended(title: str, times: int) -> str:
    """One of its calls was begun again and again; it may be what ends the processes."""
    return (
        f"{title} was begun {times} times and never came to an end: each time it was interrupted, or did"
        " not happen."
    )


def is_given_up(state: RunState, error: str) -> bool:
    """Are these the words in which ``state`` would be given up? How often it was taken up, its journal does
    not say; how often a call was begun, it does."""
    if _NO_PROGRESS.fullmatch(error):
        return True
    return any(
        # Earlier versions named the tool.
        error in (never_ended(call.title, times), never_ended(call.tool, times))
        for call in state.open_calls
        for times in range(2, call.attempts + 1)
    )


#: In earlier words too.
_NO_PROGRESS = re.compile(
    r"It was (taken up \d+ times without any progress \(.+\)|tried \d+ times and never got on)\.",
    re.DOTALL,
)
