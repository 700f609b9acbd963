"""Who may take a grant back. It only means that people are asked again: so whoever is concerned may."""

from __future__ import annotations

from agent.rules.control import GrantGiven
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.rule import People


def may_take_back(
    given: GrantGiven, owners: People, requester: Principal | None, by: Decider
) -> bool:
    """Is it whoever gave it, might have given it in their stead, owns its agent, or asked for its run?"""
    is_owner = by.user in owners.users or not by.groups.isdisjoint(owners.groups)
    might_have_given_it = not by.groups.isdisjoint(given.groups)
    is_theirs = by.principal in (given.by, requester)
    return by.authority == "operator" or is_theirs or is_owner or might_have_given_it
