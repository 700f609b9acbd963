"""The auditor's eye for grants: does what the control journal says of one let this call happen, then?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]

#: Whoever begins something reads what stands a moment before that is written.
_A_MOMENT = timedelta(seconds=5)


@dataclass(frozen=True)
class Consent:
    """A grant as it was given, and since when it is revoked."""

    given: Json
    at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True)
class Use:
    """A call that begins under a grant."""

    run_id: str
    session: str
    agent: str
    tool: str
    args: Json
    at: datetime


def consents_of(control: Iterable[Json]) -> dict[str, Consent]:
    """Those of a control journal, by name."""
    found: dict[str, Consent] = {}
    for row in control:
        event, at = row["event"], datetime.fromisoformat(row["at"])
        if event["kind"] == "grant_given":
            found.setdefault(event["grant_id"], Consent(event, at))
        elif event["kind"] == "grant_revoked" and event["grant_id"] in found:
            old = found[event["grant_id"]]
            found[event["grant_id"]] = Consent(old.given, old.at, old.revoked_at or at)
    return found


def why_not_under(consent: Consent, use: Use) -> str | None:
    """Why it lets this call not happen; None: it does."""
    given, over = consent.given, consent.given.get("expires_at")
    if (given["agent"], given["tool"]) != (use.agent, use.tool):
        return "is for something else"
    if any(use.args.get(name) != value for name, value in given["where"].items()):
        return "is for other values"
    if given.get("run_id") not in (None, use.run_id):
        return "is for another run"
    if given.get("session") not in (None, use.session):
        return "is for another conversation"
    if consent.at > use.at:
        return "was given later"
    if over is not None and use.at >= datetime.fromisoformat(over):
        return "was over by then"
    if consent.revoked_at is not None and use.at > consent.revoked_at + _A_MOMENT:
        return "was revoked by then"
    return None
