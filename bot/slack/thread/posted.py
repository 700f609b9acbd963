"""Where a run's messages stand in Slack, those of its thread in that thread, and where people said what it was told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from agent.ports import ThreadMessage
from agent.rules.state import RunState
from bot.slack.ids import Address, Place
from bot.slack.messages import address_of
from bot.slack.thread.keys import STATUS_KEY, is_in_thread


def posted(messages: Mapping[str, ThreadMessage], place: str | None) -> dict[str, Address]:
    """Those that Slack has, of a run at this place, by their keys."""
    stands, thread = dict(_posted(messages)), _thread_of(place, messages)
    return {
        key: replace(address, thread_ts=thread) if is_in_thread(key) else address
        for key, address in stands.items()
    }


def where_said(
    refs: Iterable[str], messages: Mapping[str, ThreadMessage], place: str | None
) -> dict[str, Address]:
    """The messages that people wrote in the thread of a run at this place, by their refs."""
    thread = _thread_of(place, messages)
    found = {ref: address_of(ref) for ref in refs}
    return {ref: replace(one, thread_ts=thread) for ref, one in found.items() if one is not None}


def words_at(
    state: RunState, messages: Mapping[str, ThreadMessage], url: str | None
) -> dict[str, str]:
    """Links to what the run was told, by their refs, for all who may see its channel; ``url`` is the workspace's own.
    None to a direct message: the others who read of it can't look there."""
    refs = (one.ref for one in state.said if one.ref is not None)
    found = where_said(refs, messages, state.place) if url else {}
    return {
        ref: one.link(url) for ref, one in found.items() if url and not one.channel.startswith("D")
    }


def _posted(messages: Mapping[str, ThreadMessage]) -> Iterator[tuple[str, Address]]:
    for key, message in messages.items():
        if message.status != "posting" and message.address and Address.is_one(message.address):
            yield key, Address.of(message.address)


def _thread_of(place: str | None, messages: Mapping[str, ThreadMessage]) -> str | None:
    """Where it begins: what a person wrote, else the status message."""
    at, root = Place.of(place), dict(_posted(messages)).get(STATUS_KEY)
    if at is not None and at.thread_ts:
        return at.thread_ts
    return root.ts if root else None
