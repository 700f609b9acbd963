"""What is said below cards that Slack lets nobody edit any more: what became of what they ask, once each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.ports import ThreadMessage
from agent.rules.state import RunState
from bot.slack.cards.elsewhere import closed_message
from bot.slack.thread.cards_of import decided_on
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.digests import shows_something_older
from bot.slack.thread.keys import closed_key


def said_below(state: RunState, rows: Mapping[str, ThreadMessage]) -> Iterator[Wanted]:
    """By what is known of the messages now; of what is decided, and no other, there is something to say."""
    for key in sorted(rows):
        if not shows_something_older(rows[key]):
            continue
        for approval_id in decided_on(key, state):
            approval = state.approvals[approval_id]
            if approval.status == "pending":
                continue
            # In the thread: ``approval:apr_1``; elsewhere its place follows.
            place = ":".join(key.split(":")[2:]) or None
            yield Wanted(
                closed_key(approval_id, place),
                closed_message(approval, state),
                Priority.ANSWER,
                to=place,
                below=key if place else None,
            )
