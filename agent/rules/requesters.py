"""Who asked for a run, as a condition of the policy may speak of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from agent.rules.ids import Principal

#: ``member``: a full member of the workspace. ``stranger``: of another workspace. ``bot``: an app. ``operator``:
#: whoever holds the database, on the command line.
RequesterKind: TypeAlias = Literal["member", "guest", "stranger", "bot", "deactivated", "operator"]
KINDS: Final = frozenset(get_args(RequesterKind))

_SLACK: Final = "slack"
_OPERATOR: Final = "cli:"


@dataclass(frozen=True, slots=True)
class Requester:
    """As they stand when it was looked up. What is None nobody could say; ``why`` completes "It is not known: …"."""

    kind: RequesterKind | None = None
    #: Of the groups that were looked up, those that they are in.
    groups: frozenset[str] | None = None
    why: str = ""


#: Nobody has looked.
UNKNOWN: Final = Requester()
#: On the command line nobody is in a group.
OPERATOR: Final = Requester("operator", frozenset())


def is_operator(principal: Principal) -> bool:
    return principal.startswith(_OPERATOR)


def plain_id(principal: str) -> str:
    """As a condition compares it, and as lists of people name them: a Slack user's id alone. Of all others the whole
    principal, such as ``cli:root``."""
    match principal.split(":"):
        case [kind, _, user] if kind == _SLACK and user:
            return user
        case _:
            return principal
