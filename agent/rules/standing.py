"""What the control journal amounts to: the grants that were given, and how each switch stands. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl, SwitchTurned
from agent.rules.ids import GrantId, RunId, SessionId

#: The scope of a grant that is for a whole agent.
WHOLE_AGENT = "agent"


def scope_of_run(run_id: RunId) -> str:
    return f"run {run_id}"


def scope_of_session(session: SessionId) -> str:
    return f"session {session}"


@dataclass(frozen=True, slots=True)
class Grant:
    """A consent, and its fact's place in the control journal."""

    given: GrantGiven
    seq: int
    at: datetime
    #: The fact that revoked it.
    revoked_seq: int | None = None

    @property
    def id(self) -> GrantId:
        return self.given.grant_id

    @property
    def scope(self) -> str:
        """One word for where it holds, by which it is looked up."""
        if self.given.run_id is not None:
            return scope_of_run(self.given.run_id)
        if self.given.session is not None:
            return scope_of_session(self.given.session)
        return WHOLE_AGENT


@dataclass(frozen=True, slots=True)
class Switch:
    """How a switch stands: by whom, why, and since when."""

    turned: SwitchTurned
    seq: int
    at: datetime

    @property
    def name(self) -> str:
        return self.turned.switch

    @property
    def is_on(self) -> bool:
        return self.turned.is_on


@dataclass(frozen=True)
class Standing:
    """All grants by their ids, the revoked ones too, and all switches by their names."""

    grants: Mapping[GrantId, Grant] = field(default_factory=dict)
    switches: Mapping[str, Switch] = field(default_factory=dict)
    #: The facts that revoked something first, by what they revoked.
    revoked: Mapping[GrantId, int] = field(default_factory=dict)


def fold_standing(recorded: Iterable[RecordedControl], before: Standing | None = None) -> Standing:
    """What follows from these facts, behind those that amounted to ``before``.

    A grant is what it was given as first. What was revoked stands no more, whenever it is given."""
    before = before or Standing()
    grants, switches, revoked = dict(before.grants), dict(before.switches), dict(before.revoked)
    for one in recorded:
        match one.event:
            case GrantGiven(grant_id=grant_id) as given:
                first = Grant(given, one.seq, one.at, revoked.get(grant_id))
                grants.setdefault(grant_id, first)
            case GrantRevoked(grant_id=grant_id):
                revoked.setdefault(grant_id, one.seq)
                grant = grants.get(grant_id)
                if grant is not None and grant.revoked_seq is None:
                    grants[grant_id] = replace(grant, revoked_seq=one.seq)
            case SwitchTurned(switch=switch) as turned:
                switches[switch] = Switch(turned, one.seq, one.at)
            case _:
                pass
    return Standing(grants, switches, revoked)
