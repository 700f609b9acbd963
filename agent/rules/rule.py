"""One rule of the policy, as it is written in the file: what it may say, and what can't be kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from agent.errors import ConfigError
from agent.rules.conditions import Condition
from agent.rules.durations import show_duration
from agent.rules.lookalikes import odd_character
from agent.rules.named_ids import GroupIds, LoneGroupIds, UserIds
from agent.rules.parts import (
    Delivery,
    Escalation,
    Granting,
    Notify,
    OnExpiry,
    Patience,
)
from agent.rules.rule_delivery import delivery_in_words, what_nobody_hears, why_no_place
from agent.rules.rule_durations import Duration
from agent.rules.rule_grants import GRANTS_LAST, RuleGrants
from agent.rules.rule_limit import RuleLimit
from agent.rules.rule_silence import EXPIRES, calls_in_words, expiry_in_words, what_is_wrong
from agent.rules.tool_globs import is_for, names_one_tool
from agent.rules.wrong_key import wrong_key

#: Where a reason shows one of the call's arguments.
PLACEHOLDER = re.compile(r"\{args\.(\w+)\}")


class People(BaseModel):
    """Users and groups, by their ids: names can be taken by anyone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    users: UserIds = ()
    groups: GroupIds = ()

    @property
    def is_nobody(self) -> bool:
        return not self.users and not self.groups


class RuleApprovers(People):
    """Who may decide what a rule asks, and how many of them have to say yes."""

    #: So many different people.
    count: int = Field(default=1, ge=1, le=100, strict=True)
    #: Whoever asked for the run too, if they are one of those who are named.
    requester: bool = Field(default=False, strict=True)

    @model_validator(mode="after")
    def _names_somebody(self) -> RuleApprovers:
        if self.is_nobody:
            raise ValueError("name at least one user or group, or leave approvers out")
        return self


class RuleEscalation(People):
    """Who may decide as well when nobody has for so long."""

    after: Duration

    @model_validator(mode="after")
    def _names_somebody(self) -> RuleEscalation:
        if self.is_nobody:
            raise ValueError("name at least one user or group, or take it out")
        return self


class Rule(BaseModel):
    """One entry of the policy."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    #: A tool's name, or a glob.
    tool: str = Field(min_length=1)
    when: str | None = None
    action: Literal["allow", "ask", "deny"]
    reason: str | None = None
    approvers: RuleApprovers | None = None
    #: Groups of which each has to give a yes of its own, each by somebody else.
    one_from_each: LoneGroupIds | None = None
    #: How long a yes may wait to be carried out.
    valid_for: Duration | None = None
    #: How long people are waited for, counted from the request; what silence means then; how often they
    #: are reminded meanwhile; and who is asked as well, and when.
    expires: Duration | None = None
    on_expiry: OnExpiry | None = None
    remind: Duration | None = None
    escalate: tuple[RuleEscalation, ...] | None = None
    #: Left out: each call is asked about.
    grants: RuleGrants | None = None
    #: Whoever approves is asked once more whether they mean it.
    confirm: bool | None = Field(default=None, strict=True)
    #: Where the card goes, and who is told of it.
    card: str | None = None
    notify: Notify | None = None
    #: How much its calls may come to; more is asked about, or refused.
    limit: RuleLimit | None = None

    @field_validator("tool")
    @classmethod
    def _is_what_it_looks_like(cls, tool: str) -> str:
        if odd := odd_character(tool):
            raise ValueError(f"{tool!r} can be no tool's name: {odd}")
        return tool

    @field_validator("card")
    @classmethod
    def _is_a_place(cls, card: str | None) -> str | None:
        if card is not None and (why := why_no_place(card)):
            raise ValueError(why)
        return card

    @field_validator("when")
    @classmethod
    def _is_cel(cls, source: str | None) -> str | None:
        if source is not None:
            try:
                Condition(source)
            except ConfigError as error:
                raise ValueError(str(error)) from error
        return source

    @field_validator("one_from_each")
    @classmethod
    def _are_different_groups(cls, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if groups is not None and not groups:
            raise ValueError("name at least one group, or leave one_from_each out")
        if twice := [group for group in groups or () if (groups or ()).count(group) > 1]:
            raise ValueError(f"{twice[0]} is named twice; each group gives one yes")
        return groups

    @field_validator("valid_for")
    @classmethod
    def _lasts(cls, valid_for: timedelta | None) -> timedelta | None:
        if valid_for is not None and valid_for <= timedelta():
            raise ValueError("a yes has to hold for longer than no time at all")
        return valid_for

    @field_validator("expires", "remind")
    @classmethod
    def _takes_time(cls, length: timedelta | None) -> timedelta | None:
        if length is not None and length <= timedelta():
            raise ValueError("it has to be longer than no time at all")
        return length

    @field_validator("escalate")
    @classmethod
    def _leads_somewhere(
        cls, escalate: tuple[RuleEscalation, ...] | None
    ) -> tuple[RuleEscalation, ...] | None:
        if escalate is not None and not escalate:
            raise ValueError("say who is asked as well, or leave escalate out")
        return escalate

    @model_validator(mode="after")
    def _can_be_kept(self) -> Rule:
        """What can't be, or would never be looked at, is refused."""
        most, count = self._most_deciders, self.approvers.count if self.approvers else 1
        if most is not None and count > most:
            raise wrong_key(
                "approvers.count",
                f"count is {count} and no more than {most} may decide, so that nobody could"
                " ever approve it",
            )
        if (number := self._idle_escalation) is not None:
            raise wrong_key(
                f"escalate.{number}",
                "one yes from each of one_from_each is all that it takes, so that theirs would complete"
                " nothing; ask groups of it once more, or raise approvers.count",
            )
        if self.action == "deny" and self.limit is not None:
            raise wrong_key(
                "limit", "this rule lets nothing run that could be limited; take it out"
            )
        if not self.may_ask and (idle := self._about_asking):
            raise wrong_key(idle[0], f"this rule never asks anybody; take {' and '.join(idle)} out")
        if self.grants is not None and self._takes_several:
            raise wrong_key("grants", "it takes several people to say yes, and so no grant")
        wrong = what_is_wrong(self.patience) or what_nobody_hears(self.delivery, self.patience)
        if wrong:
            raise wrong_key(*wrong)
        return self

    @property
    def _most_deciders(self) -> int | None:
        """How many may decide by the end of its escalations; None where it names a group, or nobody."""
        if self.approvers is None or self.one_from_each:
            return None
        named: list[People] = [self.approvers, *(self.escalate or ())]
        if any(one.groups for one in named):
            return None
        return len({user for one in named for user in one.users})

    @property
    def _about_asking(self) -> list[str]:
        """The keys that mean nothing unless it asks. Whom ``allow`` names may have to settle what
        became of an effect; that takes one of them."""
        keys = {
            "approvers": self.approvers is not None and self.action == "deny",
            "approvers.count": self.approvers is not None and self.approvers.count > 1,
            "one_from_each": self.one_from_each is not None,
            "valid_for": self.valid_for is not None,
            "expires": self.expires is not None,
            "on_expiry": self.on_expiry is not None,
            "remind": self.remind is not None,
            "escalate": self.escalate is not None,
            "grants": self.grants is not None,
            "confirm": bool(self.confirm),
            "card": self.card is not None,
            "notify": self.notify is not None,
        }
        return [key for key, is_there in keys.items() if is_there]

    @property
    def _idle_escalation(self) -> int | None:
        """The first whose people could decide nothing: there is a place for each group's yes alone."""
        groups = self.one_from_each or ()
        count = self.approvers.count if self.approvers else 1
        if not groups or count > len(groups):
            return None
        others = (
            number
            for number, one in enumerate(self.escalate or ())
            if one.users or not set(one.groups) <= set(groups)
        )
        return next(others, None)

    @property
    def _takes_several(self) -> bool:
        count = self.approvers.count if self.approvers else 1
        return count > 1 or len(self.one_from_each or ()) > 1

    @property
    def granting(self) -> Granting | None:
        """The standing consent that it allows."""
        if self.grants is None:
            return None
        return Granting(scopes=self.grants.scopes, longest=self.grants.longest or GRANTS_LAST)

    def covers(self, tool: str) -> bool:
        """Is it for the tool of this name? What allows is read more narrowly."""
        return is_for(self.tool, tool, narrowly=self.action == "allow")

    @property
    def names_one_tool(self) -> bool:
        """Or is it for all that a glob matches?"""
        return names_one_tool(self.tool)

    @property
    def may_ask(self) -> bool:
        """A condition that fails asks, whatever the action is, and so does what can't be counted."""
        return self.action == "ask" or self.when is not None or self.limit is not None

    @property
    def names_deciders(self) -> bool:
        return self.approvers is not None or bool(self.one_from_each)

    @cached_property
    def condition(self) -> Condition | None:
        return None if self.when is None else Condition(self.when)

    @cached_property
    def arguments(self) -> Mapping[str, frozenset[str]]:
        """The arguments that it names, by the key in which it does."""
        return {
            "when": self.condition.arguments if self.condition else frozenset(),
            "reason": frozenset(PLACEHOLDER.findall(self.reason or "")),
            "limit.sum": self.limit.arguments if self.limit else frozenset(),
        }

    @property
    def patience(self) -> Patience:
        """How long what it asks waits for people, and what happens meanwhile and then."""
        return Patience(
            expires=self.expires or EXPIRES,
            on_expiry=self.on_expiry or "wait",
            remind=self.remind,
            escalate=tuple(
                Escalation(after=one.after, users=one.users, groups=one.groups)
                for one in self.escalate or ()
            ),
        )

    @property
    def delivery(self) -> Delivery:
        """Where what it asks is put, and who is told."""
        return Delivery(card=self.card or "thread", notify=self.notify or "mention")

    @property
    def gist(self) -> str:
        """What it does and when, in words."""
        condition = f" when {self.when}" if self.when else ""
        limit = " within a limit" if self.limit else ""
        return f"{self.action} {self.tool}{condition}{limit}"

    @property
    def in_words(self) -> str:
        """The gist, all that it demands of a yes, and what it says of silence."""
        demands = [self.gist]
        if self.limit is not None:
            demands.append(self.limit.in_words)
        if self.approvers and self.approvers.count > 1:
            demands.append(f"{self.approvers.count} different people say yes")
        if self.one_from_each:
            demands.append(f"one yes from each of {', '.join(self.one_from_each)}")
        if self.approvers and self.approvers.requester:
            demands.append("also by whoever asked for the run")
        if self.valid_for is not None:
            demands.append(f"a yes is good for {show_duration(self.valid_for)}")
        demands += calls_in_words(self.patience)
        if self.grants is not None:
            most = show_duration(self.grants.longest or GRANTS_LAST)
            scopes = " or the ".join(self.grants.scopes)
            demands.append(f"may be allowed for the {scopes}, {most} at most")
        if self.confirm:
            demands.append("whoever approves is asked whether they mean it")
        if self.expires is not None or self.on_expiry is not None:
            demands.append(expiry_in_words(self.patience))
        return "; ".join((*demands, *delivery_in_words(self.delivery)))
