"""The modals in which people decide, each with what they write into it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from bot.slack.ids import (
    ANSWER,
    ANSWER_MODAL,
    APPROVE_MODAL,
    DENY_MODAL,
    GRANT_MODAL,
    MORE,
    STEER,
    STEER_MODAL,
)
from tests.bot.slack.workspace import Bot, Json


@dataclass(frozen=True)
class Modal:
    callback_id: str
    #: Of the button that opens it, with what is chosen in the menu.
    action_id: str
    #: Who may send it off.
    user: str
    values: dict[str, str] = field(default_factory=dict)
    chosen: str = ""
    #: Sent besides: what was chosen already when it opened.
    choices: dict[str, str] = field(default_factory=dict)
    #: Where it stands that it can't be sent off now.
    block_id: str = ""

    async def open(self, bot: Bot, card: Json) -> Json:
        approval, _ = (await bot.runtime.approvals(waiting_only=False))[0]
        selected = {"selected": f"{self.chosen}|{approval.id}"} if self.chosen else {}
        await bot.click(self.user, card, self.action_id, **selected)

        def is_open() -> Json | None:
            view = bot.view(self.user)
            return view if view and view.get("callback_id") == self.callback_id else None

        view: Json = await bot.sandbox.until(is_open, f"{self.callback_id} is open")
        return view

    async def deliver(self, bot: Bot, view: Json) -> str:
        """As Slack does when it did not hear that it had been taken: what it says then."""
        return await sent_off(bot, self.user, {**view, "state": {"values": self._state()}})

    def _state(self) -> Json:
        written: Json = {block: {"value": {"value": text}} for block, text in self.values.items()}
        chosen: Json = {
            block: {"value": {"selected_option": {"value": one}}}
            for block, one in self.choices.items()
        }
        return written | chosen


def forged(callback_id: str, approval_id: str, **written: str) -> Json:
    """A modal that we never opened."""
    return {
        "id": "V1",
        "callback_id": callback_id,
        "private_metadata": json.dumps({"approval": approval_id}),
        "state": {"values": {block: {"value": {"value": text}} for block, text in written.items()}},
    }


async def sent_off(bot: Bot, user: str, view: Json, team: str = "T0PILOT") -> str:
    """How it is acknowledged."""
    payload: dict[str, Any] = {
        "type": "view_submission",
        "user": {"id": user, "team_id": team},
        "view": view,
    }
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    return json.dumps(answer.reply.body, ensure_ascii=False)


_GRANT = {"scope": "run", "lasts": "3600", "values": "exactly"}
#: Of a refund that finance is asked about, which Bob is in.
OF_A_CALL = {
    "steer": Modal(STEER_MODAL, STEER, "U0BOB", {"arg.amount": "90"}, block_id="guidance"),
    "guide": Modal(STEER_MODAL, STEER, "U0BOB", {"guidance": "half of it"}, block_id="guidance"),
    "deny": Modal(
        DENY_MODAL, MORE, "U0BOB", {"reason": "too much"}, "deny_reason", block_id="reason"
    ),
    "approve": Modal(
        APPROVE_MODAL, MORE, "U0BOB", {"note": "as agreed"}, "approve_note", block_id="note"
    ),
    "grant": Modal(GRANT_MODAL, MORE, "U0BOB", {}, "approve_run", _GRANT, block_id="lasts"),
}
#: Of a question that Alice's own run asks.
ANSWERED = Modal(ANSWER_MODAL, ANSWER, "U0ALICE", {"answer": "$45"}, block_id="answer")
