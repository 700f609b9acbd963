"""The guided tour of the demo's page: the story of one refund, in three steps and an end."""

from __future__ import annotations

from typing import Any

from bot.slack.ids import APPROVE

#: Each step ends when its thing was done, or is told to have been; the words between backticks are
#: shown as code.
TOUR: tuple[dict[str, Any], ...] = (
    {
        "title": "Alice asks for a refund",
        "text": "Pilothouse is a Slack bot that puts AI agents to work, and has people decide before anything "
        "risky is done. This page is a Slack of your own to try it in: nothing here is real. You are Alice, "
        "in #support. Send `/agent refund ORD-3300 180`: an agent begins, and stops before it pays, because "
        "anything above $100 needs somebody's yes.",
        "help": {
            "label": "Write it for me",
            "as": "U0ALICE",
            "channel": "C0SUPPORT",
            "write": "/agent refund ORD-3300 180",
        },
        "done": {"shows": APPROVE},
    },
    {
        "title": "Become Bob, and decide",
        "text": "Bob is of finance, and may say yes. Become Bob (“You are”, below the channels), open "
        "the thread, and press Approve, Deny or Steer. Alice can't: try it.",
        "help": {"label": "Become Bob", "as": "U0BOB", "thread": True},
        "done": {"no_longer_shows": APPROVE},
    },
    {
        "title": "Look what happened",
        "text": "The inspector shows each call and event that passed between Slack and the bots, with its "
        "times. Or be rough: kill a bot where `make run` runs, by `kill -9` and its pid, which stands "
        "there. Another takes over.",
        "help": {"label": "Open the inspector", "drawer": "inspector"},
        "done": {"opens": "inspector", "ends_connection": True},
    },
    {
        "title": "Nothing is lost, or done twice",
        "text": "Choose `block_actions` in the inspector, Bob's click, and send it again: what he decided "
        "stays, and nothing is paid twice, as `ledger.json` in the demo's data folder shows. Under Faults you "
        "can make Slack lose an answer, and watch it heal. The button Tour opens this again.",
    },
)
