"""What an administrator changes of people and user groups, and the app is told of."""

from __future__ import annotations

from dataclasses import replace

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import outcome
from bot.sandbox.reading import person
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal


async def set_group(sandbox: Sandbox, asked: Asked) -> Json:
    """Who is in a user group from now on."""
    group = sandbox.workspace.groups.get(asked.text("group"))
    if group is None:
        raise Refusal(f"No group. There are: {', '.join(sandbox.workspace.groups)}.")
    members = asked.anything("members")
    if not isinstance(members, list):
        raise Refusal("`members` is a list of people.", 400)
    after = replace(group, members=tuple(person(sandbox, str(one)).id for one in members))
    sandbox.workspace.groups[group.id] = after
    sandbox.record.touch()
    event = sandbox.events.group_changed(group, after)
    return outcome(await sandbox.outbox.publish_and_wait([event]))


async def deactivate(sandbox: Sandbox, asked: Asked) -> Json:
    return await _set_deleted(sandbox, asked, True)


async def reactivate(sandbox: Sandbox, asked: Asked) -> Json:
    return await _set_deleted(sandbox, asked, False)


async def _set_deleted(sandbox: Sandbox, asked: Asked, deleted: bool) -> Json:
    user = person(sandbox, asked.text("whom"))
    if user.deleted is deleted:
        raise Refusal(f"{user.name} is {'deactivated' if deleted else 'active'} already.", 400)
    after = sandbox.workspace.users[user.id] = replace(user, deleted=deleted)
    sandbox.record.touch()
    event = sandbox.events.user_changed(after.as_slack(sandbox.base_url))
    return outcome(await sandbox.outbox.publish_and_wait([event]))
