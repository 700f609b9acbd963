"""How the kill switches stand, for whoever may turn them."""

from __future__ import annotations

from agent.rules.standing import Switch
from agent.rules.switches import ALL, may_switch
from bot.slack.payloads import Actor
from bot.slack.services import Services


async def switches_of(services: Services, actor: Actor) -> list[Switch] | None:
    """Those that are on, for the Home tab of whoever may turn them; None for everybody else, and where that can't be
    told. Raises ``NotEligible``, ``StoreError``."""
    owners = services.runtime.switching.owners(ALL)
    if owners.is_nobody:
        return None
    found = await services.people.look_up(actor.user, actor.team, groups=owners.groups)
    return await services.runtime.switching.on() if may_switch(owners, found.decider) else None
