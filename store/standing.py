"""Grants and switches as rows: a projection of the control journal, written with the fact.

A row holds what decides whether a grant is in force, and where its fact is; what was consented to is read
from the fact. A row that says anything else than its fact gives no consent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL
from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl, SwitchTurned
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.standing import (
    WHOLE_AGENT,
    Grant,
    Standing,
    Switch,
    scope_of_run,
    scope_of_session,
)
from store.at_most import AT_MOST
from store.bodies import Row as FactRow
from store.bodies import read_control_body
from store.now import NOW
from store.schema import control_journal, grants, switches

log = logging.getLogger(__name__)

_STANDS = and_(
    grants.c.revoked_seq.is_(None), or_(grants.c.expires_at.is_(None), grants.c.expires_at > NOW)
)
_GRANT = select(grants, control_journal).join(
    control_journal, control_journal.c.seq == grants.c.given_seq
)
IN_FORCE = _GRANT.where(
    grants.c.agent == bindparam("of_agent"),
    grants.c.scope.in_(bindparam("scopes", expanding=True)),
    _STANDS,
).order_by(grants.c.grant_id)
_PAGE_OF_GRANTS = (
    _GRANT.where(grants.c.grant_id > bindparam("after"), _STANDS)
    .order_by(grants.c.grant_id)
    .limit(AT_MOST)
)
_PAGE_OF_SWITCHES = (
    select(switches, control_journal)
    .join(control_journal, control_journal.c.seq == switches.c.turned_seq)
    .where(switches.c.switch > bindparam("after"))
    .order_by(switches.c.switch)
    .limit(AT_MOST)
)
_HAS_GRANT = select(grants.c.grant_id).where(grants.c.grant_id == bindparam("of_grant"))
_GIVE = insert(grants)
_REVOKE = (
    update(grants)
    .where(grants.c.grant_id == bindparam("of_grant"), grants.c.revoked_seq.is_(None))
    .values(revoked_seq=bindparam("at_seq"))
)
_TURN = (
    update(switches)
    .where(switches.c.switch == bindparam("of_switch"))
    .values(is_on=bindparam("new_is_on", type_=Boolean), turned_seq=bindparam("at_seq"))
)
_ADD_SWITCH = insert(switches)
_ALL_GRANTS, _ALL_SWITCHES = select(grants), select(switches)


def project(connection: Connection, one: RecordedControl) -> None:
    """What follows from a new fact; ``fold_standing`` says the same of it."""
    match one.event:
        case GrantGiven() as given:
            if connection.execute(_HAS_GRANT, {"of_grant": given.grant_id}).first() is None:
                connection.execute(_GIVE, _grant_values(Grant(given, one.seq, one.at)))
        case GrantRevoked(grant_id=grant_id):
            connection.execute(_REVOKE, {"of_grant": grant_id, "at_seq": one.seq})
        case SwitchTurned() as turned:
            values = {"of_switch": turned.switch, "new_is_on": turned.is_on, "at_seq": one.seq}
            if connection.execute(_TURN, values).rowcount == 0:
                connection.execute(_ADD_SWITCH, _switch_values(Switch(turned, one.seq, one.at)))
        case _:
            pass


def grants_in_force(
    connection: Connection, agent: str, run_id: RunId, session: SessionId, now: datetime | None
) -> list[Grant]:
    scopes = [scope_of_run(run_id), scope_of_session(session), WHOLE_AGENT]
    values = {"of_agent": agent, "scopes": scopes, "now": now}
    return _grants(connection, IN_FORCE, values)


def page_of_grants(
    connection: Connection, after: GrantId | None, limit: int, now: datetime | None
) -> list[Grant]:
    values = {"after": after or "", "at_most": limit, "now": now}
    return _grants(connection, _PAGE_OF_GRANTS, values)


def page_of_switches(connection: Connection, after: str, limit: int) -> list[Switch]:
    """Raises ``CorruptJournal`` for a switch that says anything else than its fact: whoever asks whether
    it is on must not be told that it is off."""
    rows = connection.execute(_PAGE_OF_SWITCHES, {"after": after, "at_most": limit}).all()
    return [_switch(row) for row in rows]


def differences(connection: Connection, standing: Standing) -> list[str]:
    """Where the rows say anything else than the journal, in words."""
    told = {grant.id: _grant_values(grant) for grant in standing.grants.values()}
    kept = {row.grant_id: dict(row._mapping) for row in connection.execute(_ALL_GRANTS)}
    switched = {name: _switch_values(one) for name, one in standing.switches.items()}
    held = {row.switch: dict(row._mapping) for row in connection.execute(_ALL_SWITCHES)}
    return [*_compare("grant", told, kept), *_compare("switch", switched, held)]


def rebuild(connection: Connection, standing: Standing) -> None:
    """Write all rows anew."""
    connection.execute(delete(grants))
    connection.execute(delete(switches))
    if standing.grants:
        connection.execute(_GIVE, [_grant_values(one) for one in standing.grants.values()])
    if standing.switches:
        connection.execute(_ADD_SWITCH, [_switch_values(one) for one in standing.switches.values()])


def _compare(
    what: str, told: Mapping[Any, dict[str, Any]], kept: Mapping[Any, dict[str, Any]]
) -> list[str]:
    said = []
    for id in sorted(told.keys() | kept.keys()):
        if id not in kept:
            said.append(f"{what} {id}: its row is missing")
        elif id not in told:
            said.append(f"{what} {id}: no fact says that there is one")
        elif told[id] != kept[id]:
            said.append(f"{what} {id}: its row is not what the journal says")
    return said


def _grants(connection: Connection, page: Select[Any], values: Mapping[str, Any]) -> list[Grant]:
    rows = connection.execute(page, values).all()
    return [grant for row in rows if (grant := _grant(row)) is not None]


def _grant(row: Row[Any]) -> Grant | None:
    """None for a row that its fact does not bear out: consent is never guessed."""
    try:
        one = _fact(row)
        if isinstance(one.event, GrantGiven):
            grant = Grant(one.event, one.seq, one.at)
            said = _grant_values(grant)
            if {name: row._mapping[name] for name in said} == said:
                return grant
        why = "its row is not what the journal says"
    except (CorruptJournal, UnknownEvent) as error:
        why = str(error)
    log.warning("the grant %s is left aside: %s", row.grant_id, why)
    return None


def _switch(row: Row[Any]) -> Switch:
    one = _fact(row)
    if isinstance(one.event, SwitchTurned):
        switch = Switch(one.event, one.seq, one.at)
        if (switch.name, switch.is_on) == (row.switch, row.is_on):
            return switch
    raise CorruptJournal(CONTROL, row.turned_seq, f"the switch {row.switch} says something else")


def _fact(row: Row[Any]) -> RecordedControl:
    return read_control_body(FactRow(row.seq, row.event_id, row.at, row.hash, row.body))


def _grant_values(grant: Grant) -> dict[str, Any]:
    return {
        "grant_id": grant.id,
        "agent": grant.given.agent,
        "scope": grant.scope,
        "expires_at": grant.given.expires_at,
        "given_seq": grant.seq,
        "revoked_seq": grant.revoked_seq,
    }


def _switch_values(switch: Switch) -> dict[str, Any]:
    return {"switch": switch.name, "is_on": switch.is_on, "turned_seq": switch.seq}
