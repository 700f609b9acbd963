"""Questions that are put elsewhere than in their thread, and what stands there then."""

from __future__ import annotations

import json

from agent.rules.parts import Approvers, Delivery, Notify
from tests.agent.rules.histories import (
    FINANCE,
    History,
    asked,
    begun,
    judged,
    replied,
)
from tests.bot.thread.scene import Message, Scene

CARD = "approval:apr_1"


def put(card: str, notify: Notify = "mention", approvers: Approvers = FINANCE) -> History:
    """A refund waits there for a decision, as ``apr_1``."""
    history = begun().then(replied(1)).then(judged(1, "ask", approvers=approvers))
    question = asked(1, approvers=approvers)
    delivery = Delivery(card=card, notify=notify)
    return history.then(question.model_copy(update={"delivery": delivery}))


def cards(scene: Scene, channel: str) -> list[Message]:
    """Those of the bot's messages in this channel that can be decided, or could."""
    return [one for one in scene.sandbox.messages(channel) if "Refund an order" in str(one)]


def has_buttons(message: Message) -> bool:
    return "approval.approve" in json.dumps(message["blocks"])


def posts(scene: Scene, channel: str) -> list[str]:
    """What was said there when it was first posted, in whole."""
    calls = scene.sandbox.calls("chat.postMessage")
    return [json.dumps(one["arguments"]) for one in calls if one["arguments"]["channel"] == channel]


def delete(scene: Scene, channel: str) -> None:
    (card,) = cards(scene, channel)
    scene.sandbox.inside.posting.delete(scene.sandbox.inside.workspace.channel(channel), card["ts"])
