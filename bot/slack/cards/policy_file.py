"""How the policy file stands to what is in force, for those who own agents."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from agent.engine.in_force import FileStanding, Refused
from bot.slack.cards.blocks import Block, apart, context, mrkdwn, section
from bot.slack.cards.mentions import when
from bot.slack.cards.text import quoted, shorten, show

_NAME_LIMIT: Final = 80
_WHY_LIMIT: Final = 1_500
_KEYS_SHOWN: Final = 10
_MEND_IT: Final = "Once it is mended it is loaded by itself, within seconds."


def policy_file_blocks(standing: FileStanding | None) -> list[Block]:
    """None where what is in force is what stands in it."""
    if standing is None:
        return []
    blocks = _refused(standing, standing.refused) if standing.refused else []
    if keys := standing.needs_restart:
        more = f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
        shown = ", ".join(quoted(key, _NAME_LIMIT) for key in keys[:_KEYS_SHOWN])
        blocks.append(
            section(
                f"↻ {_file(standing, standing.written_at)} is in force, but for what takes a restart of every"
                f" bot process: {shown}{more}."
            )
        )
    return blocks


def _refused(standing: FileStanding, refused: Refused) -> list[Block]:
    words = f"⚠️ {_file(standing, refused.written_at)} could not be loaded; {_that(standing)} stays in force."
    return [
        section(words),
        apart("What is wrong", shorten(show(refused.why).text, _WHY_LIMIT)),
        context(mrkdwn(_MEND_IT)),
    ]


def _file(standing: FileStanding, at: datetime | None) -> str:
    of = f" of {when(at)}" if at else ""
    return f"The policy file *{quoted(standing.file, _NAME_LIMIT)}*{of}"


def _that(standing: FileStanding) -> str:
    return f"that of {when(standing.written_at)}" if standing.written_at else "the one before it"
