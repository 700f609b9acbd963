"""Ids of people and groups as the policy names them: never names, which anybody can take. Pure."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from agent.rules.lookalikes import odd_character

_ID = re.compile(r"[A-Z][A-Z0-9_]+")


def _ids(ids: tuple[str, ...]) -> tuple[str, ...]:
    for id in ids:
        if _ID.fullmatch(id):
            continue
        odd = odd_character(id)
        why = f": {odd}" if odd else "; write ids such as U0123 or S0123, not names"
        raise ValueError(f"{id!r} is not an id{why}")
    return ids


def _users(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Nobody who may decide is ever one of them otherwise, and nothing would say so."""
    for id in _ids(ids):
        if id.startswith("S"):
            raise ValueError(f"{id} is a group's id; groups go under groups")
        if not id.startswith(("U", "W")):
            raise ValueError(f"{id} is no person's id; those begin with U or W")
    return ids


def _groups(ids: tuple[str, ...]) -> tuple[str, ...]:
    for id in _ids(ids):
        if id.startswith(("U", "W")):
            raise ValueError(f"{id} is a person's id; people go under users")
        if not id.startswith("S"):
            raise ValueError(f"{id} is no group's id; those begin with S")
    return ids


def _groups_alone(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Where no ``users`` stand beside them."""
    for id in _ids(ids):
        if id.startswith(("U", "W")):
            raise ValueError(
                f"{id} is a person's id, and groups stand here; people go under users of approvers"
            )
    return _groups(ids)


UserIds = Annotated[tuple[str, ...], AfterValidator(_users)]
GroupIds = Annotated[tuple[str, ...], AfterValidator(_groups)]
#: Where no ``users`` stand beside them.
LoneGroupIds = Annotated[tuple[str, ...], AfterValidator(_groups_alone)]
