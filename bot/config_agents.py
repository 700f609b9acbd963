"""Which of several agents is meant, as it is written: by its name, by its channels, by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Protocol, TypeVar

from pydantic import AfterValidator

from agent.rules.rule_delivery import is_channel_id
from bot.marked_yaml import MarkedYaml, Way

#: What would have one agent give work to another.
_HANDS_ON: Final = frozenset(
    {
        "agents",
        "delegate",
        "delegates",
        "handoff",
        "handoffs",
        "hand_off",
        "subagents",
        "sub_agents",
    }
)
NO_HANDING_ON: Final = (
    "one agent can't hand work to another: that is not part of Pilothouse yet; take it out. People ask another agent"
    " by its name."
)


def _one(channel: str) -> str:
    if not is_channel_id(channel):
        raise ValueError(f"{channel!r} is no channel's id; write one such as C0123")
    return channel


def _several(channels: tuple[str, ...]) -> tuple[str, ...]:
    if not channels:
        raise ValueError("name at least one channel, or take it out")
    if twice := next((one for one in channels if channels.count(one) > 1), None):
        raise ValueError(f"{twice} stands in it twice")
    return channels


Channels = Annotated[tuple[Annotated[str, AfterValidator(_one)], ...], AfterValidator(_several)]


class Placed(Protocol):
    """Of an agent, as it is written, what says where it is meant."""

    @property
    def channels(self) -> tuple[str, ...]: ...

    @property
    def default(self) -> bool: ...


Entry = TypeVar("Entry", bound=Placed)


def is_handing_on(way: Way) -> bool:
    """Is it a key of an agent's that asks for handing work on?"""
    return len(way) == 3 and way[0] == "agents" and way[2] in _HANDS_ON


def must_be_told_apart(marked: MarkedYaml, agents: Mapping[str, Placed]) -> None:
    """Raises ``ConfigError`` where two have one name but for how it is written, or one channel."""
    names: dict[str, str] = {}
    claimed: dict[str, str] = {}
    for name, entry in agents.items():
        if (other := names.setdefault(name.casefold(), name)) != name:
            raise marked.error(
                ("agents", name), f"{other} has this name already: capitals make no other name."
            )
        for index, channel in enumerate(entry.channels):
            if (other := claimed.setdefault(channel, name)) != name:
                raise marked.error(
                    ("agents", name, "channels", index),
                    f"{channel} is {other}'s already; one agent answers in a channel, others by name.",
                )


def default_first(marked: MarkedYaml, agents: Mapping[str, Entry]) -> list[tuple[str, Entry]]:
    """Raises ``ConfigError`` unless one is the default, where there are several."""
    chosen = [name for name, entry in agents.items() if entry.default]
    if len(chosen) > 1:
        raise marked.error(
            ("agents", chosen[1], "default"), f"{chosen[0]} is the default already; one can be."
        )
    if not chosen and len(agents) > 1:
        raise marked.error(("agents",), "say default: true at one of them.")
    return sorted(agents.items(), key=lambda item: item[0] not in chosen)
