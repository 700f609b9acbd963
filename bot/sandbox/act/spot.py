"""The message or view in which somebody acts, as that person sees it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.inputs import Form
from bot.sandbox.controls import State, control_in, controls_of
from bot.sandbox.delivery import interactive
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal
from bot.sandbox.workspace import Channel


@dataclass(frozen=True)
class Spot:
    """A message in its channel, or a view, which is in none."""

    #: Names it among all messages and views.
    place: str
    blocks: list[Json]
    #: By action id: what can be clicked there, or could be in an older picture of it.
    known: dict[str, Json]
    form: Form
    #: Where a response goes; None in a view, from which none can be sent.
    origin: Origin | None
    _shown: Json
    _channel: Channel | None

    def control(self, action_id: str, block_id: str | None) -> Json:
        """`{"block_id", "element", "waits"}`, or `Refusal`."""
        found = control_in(self.blocks, action_id, block_id)
        older = self.known.get(action_id)
        if found is None and older is not None and block_id in (None, older["block_id"]):
            found = older
        if found is None:
            there = ", ".join(sorted(self.known)) or "none"
            what = f"message {self._shown['ts']}" if self._channel else f"view {self.place}"
            raise Refusal(f"No {action_id} on {what}. There are: {there}.")
        return found

    def where(self, values: State) -> Json:
        """The payload's fields that say where it was."""
        if self._channel is None:
            return interactive.in_view({**self._shown, "state": {"values": values}})
        return interactive.in_message(self._channel, self._shown)


def find_spot(sandbox: Sandbox, asked: Asked) -> Spot:
    """The view `view_id`, or the message `ts` in `channel`. Raises `Refusal`."""
    if asked.optional("view_id"):
        return _view(sandbox, asked)
    return _message(sandbox, asked)


def visible_message(sandbox: Sandbox, channel: str, ts: str, user: str) -> Json:
    """As an interaction's payload shows it. Raises `Refusal` where that person sees none."""
    ephemeral = sandbox.messages.ephemeral(channel, ts)
    if ephemeral is not None and ephemeral["user_seeing"] == user:
        return {name: value for name, value in ephemeral.items() if name != "user_seeing"}
    if not sandbox.messages.exists(channel, ts):
        raise Refusal(f"No message {ts} in {channel}.")
    with_metadata = sandbox.guesses.metadata_in_clicks
    return sandbox.messages.read(channel, ts, metadata=with_metadata)


def _message(sandbox: Sandbox, asked: Asked) -> Spot:
    channel, ts, user = asked.channel(), asked.text("ts"), asked.user.id
    message = visible_message(sandbox, channel.id, ts, user)
    is_ephemeral = bool(message.get("is_ephemeral"))
    place, blocks = f"{channel.id}/{ts}", message.get("blocks", [])
    return Spot(
        place,
        blocks,
        known=sandbox.messages.controls(channel.id, ts),
        form=Form(sandbox, user, place, blocks),
        origin=Origin(user, channel.id, ts, is_ephemeral),
        _shown=message,
        _channel=channel,
    )


def _view(sandbox: Sandbox, asked: Asked) -> Spot:
    user, view_id = asked.user, asked.text("view_id")
    home = sandbox.views.homes.get(user.id)
    opened = sandbox.views.find(view_id)
    if home is not None and home["id"] == view_id:
        view = home
    elif opened is not None and opened.user == user.id:
        view = opened.view
    else:
        raise Refusal(f"{user.name} has no view {view_id} open.")
    place, blocks = view["id"], view["blocks"]
    return Spot(
        place,
        blocks,
        known=controls_of(blocks),
        form=Form(sandbox, user.id, place, blocks),
        origin=None,
        _shown=view,
        _channel=None,
    )
