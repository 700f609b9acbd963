"""Halts: what switches and freeze windows keep from starting now. Nobody resumes it: it ends when the switch is turned
off, or the window ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from datetime import datetime
from typing import Literal

from agent.rules.calls import Call
from agent.rules.freeze import FreezeWindow
from agent.rules.ids import CallId
from agent.rules.parts import Halt
from agent.rules.standing import Switch
from agent.rules.state import RunState
from agent.rules.switches import is_about_agent, is_about_tool

HaltedBy = Literal["switch", "window"]


def halts_of(
    state: RunState,
    switches: Sequence[Switch],
    windows: Sequence[FreezeWindow],
    now: datetime,
    in_flight: Set[CallId],
) -> tuple[Halt, ...]:
    """What is kept of a run, by these switches, of which those that are off keep nothing, and by these windows.

    Calls in flight go on, and so does what is being stopped, which starts nothing."""
    if state.is_ended or state.stop is not None:
        return ()
    idle = [call for call in state.open_calls if call.id not in in_flight]
    return (*_of_switches(state, switches, idle), *_of_windows(windows, idle, now))


def _of_switches(
    state: RunState, switches: Sequence[Switch], calls: Sequence[Call]
) -> Iterator[Halt]:
    for one in switches:
        kept = tuple(c.id for c in calls if is_about_tool(one.name, c.tool) and _would_touch(c))
        if one.is_on and (kept or is_about_agent(one.name, state.agent)):
            said = one.turned
            yield Halt(switch=one.name, call_ids=kept, by=said.by, at=one.at, reason=said.reason)


def _of_windows(
    windows: Sequence[FreezeWindow], calls: Sequence[Call], now: datetime
) -> Iterator[Halt]:
    for one in windows:
        kept = tuple(call.id for call in calls if one.is_about(call.tool) and _would_start(call))
        until = one.ends_at(now) if kept else None
        if until is not None:
            yield Halt(
                window=one.in_words,
                call_ids=kept,
                reason=one.reason or "",
                until=until,
                ends=one.end_in_words(until),
            )


def _would_start(call: Call) -> bool:
    """May it start, or start once more, as far as people and the policy have their say? What is looked up first
    starts nothing."""
    return call.status == "ready" or (call.status == "started" and call.effect != "once")


def _would_touch(call: Call) -> bool:
    """The same, or is its tool to say what it would do?"""
    is_to_be_previewed = call.status == "asking" and call.can_preview and call.previewed_at is None
    return is_to_be_previewed or _would_start(call)


def is_halted_whole(state: RunState) -> bool:
    """Does nothing of it start, whatever it is?"""
    return any(not halt.call_ids for halt in state.halts)


def halted_calls(state: RunState, now: datetime) -> frozenset[CallId]:
    """The calls that do not start now."""
    return frozenset(id for halt in _in_force(state, now) for id in halt.call_ids)


def why_halted(state: RunState, now: datetime) -> HaltedBy:
    """Which a run waits for that goes on by itself: a switch is not known to be turned off at any time."""
    is_switch = any(halt.switch is not None for halt in _in_force(state, now))
    return "switch" if is_switch else "window"


def next_end(state: RunState, now: datetime) -> datetime | None:
    """When the first of the windows ends."""
    return min((h.until for h in _in_force(state, now) if h.until is not None), default=None)


def _in_force(state: RunState, now: datetime) -> Iterator[Halt]:
    return (halt for halt in state.halts if halt.until is None or now < halt.until)
