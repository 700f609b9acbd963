"""Kill switches: how they stand, and turning one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.engine.agents import Agent
from agent.engine.releasing import release
from agent.errors import AlreadySwitched, MayNotSwitch, StoreError
from agent.ports import Ids, Store
from agent.rules.control import StampedControl, SwitchRefused, SwitchTurned, switch_refusal_id
from agent.rules.decisions import Decider
from agent.rules.ids import EventId
from agent.rules.rule import People
from agent.rules.standing import Switch
from agent.rules.switches import in_words, is_about_agent, may_switch, switch_named

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody did to a switch, and when."""

    turned: SwitchTurned
    at: datetime


@dataclass(frozen=True, slots=True)
class Switching:
    """The switches of one store, for these agents."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids

    async def on(self) -> list[Switch]:
        """Those that are on, in the order of their names."""
        _, switches = await self.store.control.switches_on()
        return list(switches)

    def named(self, said: str) -> str:
        """The switch that somebody means. Raises ``NoSuchSwitch``."""
        tools = {spec.name for agent in self.agents.values() for spec in agent.toolbox.specs}

        def may_have(name: str) -> bool:
            return any(agent.toolbox.may_have(name) for agent in self.agents.values())

        return switch_named(said, self.agents.keys(), tools, may_have)

    def owners(self, switch: str) -> People:
        """Who may turn it: the owners of every agent that it is about; nobody, where they have none in common."""
        about = [one for one in self.agents.values() if is_about_agent(switch, one.name)]
        owners = [one.policy.owners for one in about or self.agents.values()]
        users = set(owners[0].users).intersection(*(one.users for one in owners))
        groups = set(owners[0].groups).intersection(*(one.groups for one in owners))
        return People(users=tuple(sorted(users)), groups=tuple(sorted(groups)))

    async def turn(self, switch: str, by: Decider, reason: str, *, is_on: bool) -> Turn:
        """From the commit on nothing of it starts, in any process; what has begun goes on. Turned
        off, the runs that it kept go on.

        Raises ``AlreadySwitched``, ``MayNotSwitch`` (which is recorded), ``StoreError``."""
        if not may_switch(self.owners(switch), by):
            refused = MayNotSwitch(switch)
            await self._record(refused, by, is_on=is_on)
            raise refused
        stood = await self._stood(switch)
        if (stood is not None and stood.is_on) == is_on:
            said = None if stood is None else stood.turned.by
            at = None if stood is None else stood.at
            raise AlreadySwitched(in_words(switch), is_on=is_on, by=said, at=at)
        turned = SwitchTurned(
            switch=switch, is_on=is_on, by=by.principal, claimed_by=by.claimed_by, reason=reason
        )
        stamped = StampedControl(EventId(self.ids.event()), self.store.clock.now(), turned)
        await self.store.control.record([stamped])
        log.warning("the kill switch for %s is %s", switch, "on" if is_on else "off")
        if not is_on:
            await self._release()
        return Turn(turned, stamped.at)

    async def _record(self, refused: MayNotSwitch, by: Decider, *, is_on: bool) -> None:
        """A store that can't is only logged: they may not all the same."""
        event = SwitchRefused(
            switch=refused.switch, is_on=is_on, by=by.principal, code=refused.code
        )
        stamped = StampedControl(switch_refusal_id(event), self.store.clock.now(), event)
        try:
            await self.store.control.record([stamped])
        except StoreError as error:
            log.warning(
                "a refused turn of the switch %s can't be recorded: %s", event.switch, error
            )

    async def _stood(self, switch: str) -> Switch | None:
        # Not only those that are on: of one that was turned off it is told who did.
        after = ""
        while page := await self.store.control.switches(after):
            for one in page:
                if one.name == switch:
                    return one
            after = page[-1].name
        return None

    async def _release(self) -> None:
        """It is off, whatever comes of this: processes that work look for what is left."""
        try:
            await release(self.store)
        except StoreError as error:
            log.warning("runs that a switch kept go on a little later: %s", error)
