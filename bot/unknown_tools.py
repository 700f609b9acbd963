"""Rules for tools that nobody has: a slip, or the tool was taken out while runs still call it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agent.errors import ConfigError
from agent.rules.ids import RunId
from agent.runtime import Runtime
from bot.config import UnknownTool

log = logging.getLogger(__name__)

#: More than there are.
EVERY_RUN = 1_000_000


async def check_unknown_tools(unknown: Sequence[UnknownTool], runtime: Runtime) -> None:
    """A rule for a tool that nobody has is a slip, and refuses the file, but where a run still has an
    open call to this very tool: refused, nobody would work it or any other run.

    Raises ``ConfigError``, ``StoreError``."""
    if not unknown:
        return
    waiting: dict[str, list[RunId]] = {}
    for state in await runtime.unfinished(limit=EVERY_RUN):
        if state.agent in runtime.agents:
            for tool in {call.tool for call in state.open_calls}:
                waiting.setdefault(tool, []).append(state.run_id)
    if slips := [one.message for one in unknown if one.tool not in waiting]:
        raise ConfigError("\n".join(slips))
    for one in unknown:
        runs = ", ".join(waiting[one.tool])
        log.warning(
            "%s It is loaded all the same, for a run has a call to it: %s", one.message, runs
        )
