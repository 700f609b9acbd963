"""The messages of a history, as its thread shows them."""

from __future__ import annotations

from collections.abc import Mapping

from agent.rules.ids import ApprovalId
from bot.slack.thread.desired import desired
from bot.slack.thread.standing import Standing
from pictures.picture import Told
from tests.agent.rules.histories import History

FIRST = "approval:apr_1"


def shown(
    history: History,
    *keys: str,
    blocked: Mapping[str, str] | None = None,
    standing: Mapping[ApprovalId, Standing] | None = None,
    links: Mapping[ApprovalId, str] | None = None,
) -> tuple[Told, ...]:
    """Those of these keys; all that are posted where none is named."""
    wanted = desired(history.state, blocked, standing, links=links)
    return tuple(
        Told.posted(one.message) for one in wanted if (one.key in keys if keys else not one.is_past)
    )


def card(history: History) -> tuple[Told, ...]:
    """That of ``apr_1``."""
    return shown(history, FIRST)


def edited_card(history: History, words_at: Mapping[str, str] | None = None) -> tuple[Told, ...]:
    """The same as it stands once something was done about it, or said: it calls nobody any more."""
    wanted = desired(history.state, words_at=words_at)
    return tuple(Told.edited(one.message) for one in wanted if one.key == FIRST)
