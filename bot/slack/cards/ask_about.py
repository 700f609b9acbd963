"""The modal in which an agent is put to work on a message that somebody has found in Slack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.slack.cards.blocks import Block, apart, context, mrkdwn, plain, section
from bot.slack.cards.inputs import written
from bot.slack.cards.modals import StateValues, View
from bot.slack.cards.text import beginning, shorten, show
from bot.slack.ids import AGENT_BLOCK, ASK_BLOCK, ASK_MODAL, INPUT_ACTION, Address

#: The shortcut's in the manifest, too.
ASK_TITLE: Final = "Ask about this"
#: Enough to see which message it is.
_EXCERPT: Final = 600
_LOOKED_AT: Final = 2_000
#: Slack's menus take no more.
_MOST_AGENTS: Final = 100
_IS_DATA: Final = (
    "The agent is shown the message as something that was said, not as an instruction."
)
_IS_TOLD: Final = "A run is at work in this thread. What you write is told to it."


@dataclass(frozen=True, slots=True)
class About:
    """Which message it is about."""

    channel: str
    ts: str
    #: Of the thread that it is in, or opens.
    thread_ts: str
    #: When its words became those that whoever asks has seen: the ts of its last edit, else its own. Empty where that
    #: is not known.
    seen: str = ""

    @property
    def address(self) -> Address:
        return Address(self.channel, self.ts)

    @classmethod
    def read(cls, private_metadata: str) -> About | None:
        """None for what no modal of ours holds."""
        try:
            held = json.loads(private_metadata)
        except (ValueError, RecursionError):
            return None
        named = [held.get(one) for one in _NAMES] if isinstance(held, dict) else []
        texts = [one for one in named if isinstance(one, str)]
        if len(texts) < len(_NAMES):
            return None
        seen = held.get(_SEEN) if isinstance(held, dict) else None
        channel, ts, thread_ts = texts
        about = cls(channel, ts, thread_ts, seen if isinstance(seen, str) else "")
        times = filter(None, (about.ts, about.thread_ts, about.seen))
        places = [f"{about.channel}/{ts}" for ts in times]
        return about if all(map(Address.is_one, places)) else None


_NAMES: Final = ("channel", "ts", "thread_ts")
_SEEN: Final = "seen"


def ask_modal(about: About, text: str, *, is_at_work: bool, agents: Sequence[str] = ()) -> View:
    """``text`` is the message's, as ``about`` says that it was seen. ``is_at_work``: its thread has a run that has not
    ended. ``agents``: whom one may ask, the first unless another is chosen; one alone is no choice."""
    excerpt = shorten(show(beginning(text, _LOOKED_AT)).text, _EXCERPT)
    names = {name: getattr(about, name) for name in _NAMES}
    return {
        "type": "modal",
        "callback_id": ASK_MODAL,
        "private_metadata": json.dumps({**names, _SEEN: about.seen}),
        "title": plain(ASK_TITLE),
        "submit": plain("Ask"),
        "close": plain("Cancel"),
        "blocks": [
            apart("About this message:", excerpt, "rich_text_quote"),
            *([section(_IS_TOLD)] if is_at_work else []),
            *([_choice(agents[:_MOST_AGENTS])] if len(agents) > 1 else []),
            written(ASK_BLOCK, "What should be done?", is_optional=False),
            context(mrkdwn(_IS_DATA)),
        ],
    }


def chosen_agent(values: StateValues) -> str | None:
    """Whom they chose; None where the form let them choose none."""
    element = values.get(AGENT_BLOCK, {}).get(INPUT_ACTION, {})
    option = element.get("selected_option")
    chosen = option.get("value") if isinstance(option, Mapping) else None
    return chosen if isinstance(chosen, str) else None


def _choice(agents: Sequence[str]) -> Block:
    options = [{"text": plain(name, 75), "value": name} for name in agents]
    return {
        "type": "input",
        "block_id": AGENT_BLOCK,
        "label": plain("Who should do it?"),
        "element": {
            "type": "static_select",
            "action_id": INPUT_ACTION,
            "options": options,
            "initial_option": options[0],
        },
    }
