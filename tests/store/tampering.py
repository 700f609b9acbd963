"""What somebody who has the database can do to it by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from agent.rules.anchors import CONTROL
from store.chain import BEGINNING, hash_fact
from store.instants import EPOCH
from tests.store.database import ask

Change = Callable[[str], str]


def rewrite(url: str, seq: int, change: Change, run_id: str = "run_1") -> None:
    """Change a fact's body, and forge the chain from there to the head: it holds as before."""
    facts = ask(
        url, "SELECT seq, event_id, body FROM journal WHERE run_id = ? ORDER BY seq", run_id
    )
    previous = BEGINNING
    for at, event_id, body in facts:
        body = change(body) if at == seq else body
        previous = hash_fact(previous, run_id, at, event_id, body)
        values = (body, previous, run_id, at)
        ask(url, "UPDATE journal SET body = ?, hash = ? WHERE run_id = ? AND seq = ?", *values)
    ask(url, "UPDATE runs SET head_hash = ? WHERE run_id = ?", previous, run_id)


def age(url: str, span: timedelta) -> None:
    """Each run that has ended, and of which nothing was removed, was so much earlier: its events, and what is kept of
    them."""
    earlier = span // timedelta(microseconds=1)
    for (run_id,) in ask(url, "SELECT run_id FROM runs WHERE status <> 'active' AND purged = 0"):
        previous = BEGINNING
        for seq, event_id, at, body in ask(
            url, "SELECT seq, event_id, at, body FROM journal WHERE run_id = ? ORDER BY seq", run_id
        ):
            then = (EPOCH + timedelta(microseconds=at) - span).isoformat().replace("+00:00", "Z")
            body = setting(at=then)(body)
            previous = hash_fact(previous, run_id, seq, event_id, body)
            values = (at - earlier, body, previous, run_id, seq)
            ask(
                url,
                "UPDATE journal SET at = ?, body = ?, hash = ? WHERE run_id = ? AND seq = ?",
                *values,
            )
        ask(
            url,
            "UPDATE runs SET started_at = started_at - ?, updated_at = updated_at - ?, head_hash = ?"
            " WHERE run_id = ?",
            *(earlier, earlier, previous, run_id),
        )
        ask(
            url,
            "UPDATE approvals SET requested_at = requested_at - ?, decided_at = decided_at - ?"
            " WHERE run_id = ?",
            *(earlier, earlier, run_id),
        )


def rewrite_control(url: str, seq: int, change: Change) -> None:
    """The same in the control journal."""
    previous = BEGINNING
    for at, event_id, body in ask(
        url, "SELECT seq, event_id, body FROM control_journal ORDER BY seq"
    ):
        body = change(body) if at == seq else body
        previous = hash_fact(previous, CONTROL, at, event_id, body)
        ask(
            url,
            "UPDATE control_journal SET body = ?, hash = ? WHERE seq = ?",
            *(body, previous, at),
        )
    ask(url, "UPDATE control_head SET head_hash = ?", previous)


def setting(**fields: Any) -> Change:
    """The change that gives a body these fields."""
    return lambda body: json.dumps({**json.loads(body), **fields}, separators=(",", ":"))


def to(body: str) -> Change:
    """The change to this text."""
    return lambda _: body
