"""Going to places: App Home's tabs, and in and out of channels."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import outcome, told
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal
from bot.sandbox.workspace import BOT_USER, Channel

TABS = ("home", "messages")


async def home(sandbox: Sandbox, asked: Asked) -> Json:
    user, tab = asked.user.id, asked.optional("tab") or "home"
    if tab not in TABS:
        raise Refusal(f"`tab` is one of {', '.join(TABS)}.", 400)
    channel = sandbox.workspace.direct(user)
    payload = sandbox.events.home_opened(user, channel, sandbox.views.homes.get(user), tab)
    return outcome(await sandbox.outbox.publish_and_wait([payload]))


async def join(sandbox: Sandbox, asked: Asked) -> Json:
    channel = _open_to_all(asked)
    if asked.user.id in channel.members:
        raise Refusal(f"{asked.user.name} is in {channel.id} already.", 400)
    return await told(sandbox, channel, *sandbox.membership.enter(asked.user, channel))


async def invite(sandbox: Sandbox, asked: Asked) -> Json:
    """Bring somebody in: the app, unless it is said `whom`."""
    channel, inviter = _open_to_all(asked), asked.user
    whom = asked.optional("whom") or BOT_USER
    guest = sandbox.workspace.users.get(whom)
    if guest is None:
        raise Refusal(f"No user {whom}.")
    if channel.archived:
        raise Refusal(f"{channel.id} is archived: nobody comes there any more.", 400)
    if guest.id in channel.members:
        raise Refusal(f"{guest.name} is in {channel.id} already.", 400)
    return await told(sandbox, channel, *sandbox.membership.enter(guest, channel, inviter.id))


async def leave(sandbox: Sandbox, asked: Asked) -> Json:
    channel = _open_to_all(asked)
    if asked.user.id not in channel.members:
        raise Refusal(f"{asked.user.name} is not in {channel.id}.", 400)
    return await told(sandbox, channel, *sandbox.membership.exit(asked.user, channel))


def _open_to_all(asked: Asked) -> Channel:
    channel = asked.channel()
    if channel.is_direct:
        raise Refusal(f"Nobody joins or leaves {channel.id}: it is a direct message.", 400)
    return channel
