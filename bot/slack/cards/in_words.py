"""A question in text alone, for where Slack takes no blocks: what of it can be read there, and how it is decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.rules.calls import Call
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import describe_arguments, warnings, with_preview
from bot.slack.cards.text import escape, measure, one_line
from bot.slack.cards.together import SharedCard, shared_card

#: Of one question's values; in a sentence nobody reads more.
_LIMIT: Final = 600
#: Of those of all questions that share a card.
_LIMIT_OF_ALL: Final = 2_000


def values_in_words(approval: Approval, call: Call) -> str | None:
    """All that a yes would be a yes to, with what must be known of it; None where a sentence does not show it as it
    is. Escaped."""
    arguments = describe_arguments(approval.requested.args, call.parameters)
    every = with_preview(arguments, approval.requested.preview)
    # As code nothing in a value is read as bold or as a link, and it is seen where it ends.
    values = "; ".join(f"{one.title}: `{one.text}`" for one in every)
    if not all(one.is_whole for one in every) or measure(values) > _LIMIT:
        return None
    if any(char in f"{one.title}{one.text}" for one in every for char in "`\n"):
        return None
    if any(char in one.title for one in every for char in "*~"):
        return None
    # Lines and blanks would run together.
    if one_line(values, _LIMIT) != values:
        return None
    return " ".join([f"{escape(values)}.", *warnings(every)]) if values else ""


def values_of_all(shared: SharedCard, state: RunState) -> Mapping[ApprovalId, str]:
    """The same for those on a card that wait, as long as there is room for them."""
    found, left = {}, _LIMIT_OF_ALL
    for one in shared.pending:
        values = values_in_words(one, state.call(one.requested.of_call))
        if values is not None and len(values) <= left:
            found[one.id] = values
            left -= len(values)
    return found


def is_told_in_words(approval: Approval, state: RunState, *, is_alone: bool = False) -> bool:
    """Can all of it be read where its card stands as text alone? ``is_alone``: without those whose card it shares in
    other places."""
    shared = shared_card(approval.id, state)
    if shared is not None and not is_alone:
        return approval.id in values_of_all(shared, state)
    return values_in_words(approval, state.call(approval.requested.of_call)) is not None


def how_to_decide(approval_id: str) -> str:
    """Where there are no buttons; ``approval_id`` may stand for any of several."""
    return (
        f"Whoever may decide writes here, as the whole message, a mention of me and `approve"
        f" {approval_id}` or `deny {approval_id} reason`."
    )
