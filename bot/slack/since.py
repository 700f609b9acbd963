"""What has been done to a run since somebody said a word to it. Pure."""

from __future__ import annotations

from datetime import datetime

from agent.rules.ids import Principal
from agent.rules.state import RunState
from bot.slack.interruptions import Interruption


def is_done(state: RunState, how: Interruption, said_at: datetime) -> bool:
    """Has it been done since it was said? Slack may deliver it late, or once more."""
    match how:
        case "pause":
            return state.held is not None and state.held.at > said_at
        case "resume":
            return state.held is None and any(ended > said_at for _, ended in state.holds)
        case "stop":
            return state.stop is not None and state.stop.at > said_at


def is_undone(state: RunState, how: Interruption, said_at: datetime) -> bool:
    """Has the contrary been done since?"""
    match how:
        case "pause":
            return state.held is None and any(begun > said_at for begun, _ in state.holds)
        case "resume":
            return state.held is not None and state.held.at > said_at
        case "stop":
            return False


def is_done_by(state: RunState, how: Interruption, said_at: datetime, by: Principal) -> bool:
    """Has it been done since, and by nobody else, as far as is known? A pause may be over by now."""
    if how == "pause" and is_undone(state, how, said_at):
        return True
    word = {"pause": state.held, "stop": state.stop, "resume": None}[how]
    return is_done(state, how, said_at) and (word is None or word.by == by)
