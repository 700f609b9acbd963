"""The grants that hold: which of them a person sees, and may take back.

Taking one back only means that people are asked again. So whoever sees one may: who gave it, who might have
given it in their stead, the owners, and whoever asked for the run that it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import (
    AlreadyRevoked,
    CommitInDoubt,
    NotFound,
    StoreError,
    StoreUnavailable,
)
from agent.granting import requester_of
from agent.rules.ids import GrantId
from agent.rules.rule import People as Named
from agent.rules.standing import Grant
from agent.rules.taking_back import may_take_back
from bot.slack.answering import Answer
from bot.slack.cards.blocks import Block, section
from bot.slack.cards.grants import ToolsGrant, grants_blocks, grants_text, revoked_text
from bot.slack.cards.refusals import store_unavailable_text
from bot.slack.cards.text import quoted
from bot.slack.looking import STORE_IS_AWAY, looked
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services

_GONE = "Nothing was done: this grant holds no more, or is none that you can see. ({grant})"
_SAVING = "Still revoking it. You'll be told here. ({grant})"


async def grants(services: Services, actor: Actor) -> Answer:
    """Those that hold and that this person may see, each with its Revoke."""
    return await looked(_grants(services, actor))


async def _grants(services: Services, actor: Actor) -> Answer:
    holding = await services.runtime.grants()
    theirs = [_of_tool(services, one) for one in await _theirs(services, actor, holding)]
    return Answer(text=grants_text(theirs), blocks=grants_blocks(theirs))


async def revoke_by_click(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Take it back; the list shows what is left. Raises ``BadPayload``."""
    click = Click.parse(body)
    grant_id = click.grant_id
    person = Clicker(services, ack, click, _SAVING.format(grant=quoted(grant_id, 90)))
    await services.answering.answer(person, _revoke(services, grant_id, click.actor), grant_id)


async def _revoke(services: Services, grant_id: GrantId, actor: Actor) -> Answer:
    """What is told of it depends on this grant alone."""
    try:
        holding = await services.runtime.grants()
        if not await _theirs(services, actor, [one for one in holding if one.id == grant_id]):
            return Answer(text=_GONE.format(grant=quoted(grant_id, 90)))
        member = await services.people.member(actor.user, actor.team)
        was = await services.runtime.revoke(grant_id, member.principal)
    except NotEligible as error:
        return Answer(text=f"Nothing was done: {error.why}.")
    except (AlreadyRevoked, NotFound):
        return Answer(text=_GONE.format(grant=quoted(grant_id, 90)))
    except CommitInDoubt:
        raise
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(what="revoked"))
    except StoreError:
        return Answer(text=STORE_IS_AWAY)
    told = revoked_text(_of_tool(services, was))
    left = [one for one in holding if one.id != grant_id]
    return Answer(
        text=told,
        blocks=(section(told), *await _list_of(services, actor, left)),
        is_in_place=True,
    )


def _of_tool(services: Services, grant: Grant) -> ToolsGrant:
    """As the agent's own tool names it; the tool may be gone."""
    agent = services.runtime.agents.get(grant.given.agent)
    tool = agent.toolbox.get(grant.given.tool) if agent else None
    return ToolsGrant(grant, tool.title, tool.parameters) if tool else ToolsGrant(grant)


async def _list_of(services: Services, actor: Actor, holding: Sequence[Grant]) -> tuple[Block, ...]:
    """Those of them that they may see; nothing where that can't be told."""
    try:
        theirs = await _theirs(services, actor, holding)
    except (NotEligible, StoreError):
        return ()
    return grants_blocks([_of_tool(services, one) for one in theirs])


async def _theirs(services: Services, actor: Actor, holding: Sequence[Grant]) -> list[Grant]:
    """Those of them that this person may see. Raises ``NotEligible``, ``StoreError``."""
    groups = {
        group for one in holding for group in (*one.given.groups, *_owners(services, one).groups)
    }
    # A group that can't be looked up is one that they are not in.
    decider = (await services.people.look_up(actor.user, actor.team, groups=groups)).decider
    return [
        one
        for one in holding
        if may_take_back(
            one.given,
            _owners(services, one),
            await requester_of(services.runtime.store, one),
            decider,
        )
    ]


def _owners(services: Services, grant: Grant) -> Named:
    agent = services.runtime.agents.get(grant.given.agent)
    return agent.policy.owners if agent else Named()
