"""Grants and switches as rows: a projection of the control journal, written with the fact.

A row holds what decides whether a grant is in force, and where its fact is; what was consented to is read
from the fact. A row that says anything else than the journal gives no consent.
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
    func,
    insert,
    or_,
    select,
    union,
    update,
)

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL
from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl, SwitchTurned
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.standing import (
    WHOLE_AGENT,
    Grant,
    Switch,
    scope_of_run,
    scope_of_session,
)
from store.at_most import AT_MOST
from store.control_facts import BEFORE, IS_BEFORE, PREVIOUS, whole_fact
from store.keys import Keys
from store.now import NOW
from store.schema import control_journal, grants, switches

log = logging.getLogger(__name__)

_STANDS = and_(
    grants.c.revoked_seq.is_(None), or_(grants.c.expires_at.is_(None), grants.c.expires_at > NOW)
)
_GIVING, _REVOKING, _TURNING = (control_journal.alias(n) for n in ("giving", "revoking", "turning"))
# Each fact with the one before it, and with what the journal says besides: which fact gave this grant
# first, and which revoked it, whatever its row says.
_GRANT = (
    select(
        grants,
        control_journal,
        PREVIOUS,
        select(func.min(_GIVING.c.seq))
        .where(_GIVING.c.gives == grants.c.grant_id)
        .scalar_subquery()
        .label("first_given"),
        select(func.min(_REVOKING.c.seq))
        .where(_REVOKING.c.revokes == grants.c.grant_id)
        .scalar_subquery()
        .label("first_revoked"),
    )
    .join(control_journal, control_journal.c.seq == grants.c.given_seq)
    .join(BEFORE, IS_BEFORE, isouter=True)
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
# Of every name that a row has, or a fact: a row that was lost must not be taken for a switch that is off.
_SWITCHES = union(
    select(switches.c.switch.label("name")).where(switches.c.switch > bindparam("after")),
    select(control_journal.c.turns).where(control_journal.c.turns > bindparam("after")),
).subquery("named")
_PAGE_OF_SWITCHES = (
    select(_SWITCHES.c.name, switches, control_journal, PREVIOUS)
    .select_from(_SWITCHES)
    .join(switches, switches.c.switch == _SWITCHES.c.name, isouter=True)
    .join(
        control_journal,
        control_journal.c.seq
        == select(func.max(_TURNING.c.seq))
        .where(_TURNING.c.turns == _SWITCHES.c.name)
        .scalar_subquery(),
        isouter=True,
    )
    .join(BEFORE, IS_BEFORE, isouter=True)
    .order_by(_SWITCHES.c.name)
    .limit(AT_MOST)
)
_FIRST_GIVEN = select(func.min(control_journal.c.seq)).where(
    control_journal.c.gives == bindparam("of_grant")
)
_FIRST_REVOKED = select(func.min(control_journal.c.seq)).where(
    control_journal.c.revokes == bindparam("of_grant")
)
# Whoever revokes it waits for the commit of what rests on it, or comes first.
_HOLD_FAST = (
    select(grants.c.grant_id)
    .where(grants.c.grant_id == bindparam("of_grant"), _STANDS)
    .with_for_update(read=True)
)
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


def project(connection: Connection, one: RecordedControl) -> None:
    """What follows from a new fact; ``fold_standing`` says the same of it."""
    match one.event:
        case GrantGiven(grant_id=grant_id) as given:
            of_grant = {"of_grant": grant_id}
            if connection.execute(_FIRST_GIVEN, of_grant).scalar() == one.seq:
                revoked_seq = connection.execute(_FIRST_REVOKED, of_grant).scalar()
                grant = Grant(given, one.seq, one.at, revoked_seq)
                connection.execute(_GIVE, grant_values(grant))
        case GrantRevoked(grant_id=grant_id):
            connection.execute(_REVOKE, {"of_grant": grant_id, "at_seq": one.seq})
        case SwitchTurned() as turned:
            values = {"of_switch": turned.switch, "new_is_on": turned.is_on, "at_seq": one.seq}
            if connection.execute(_TURN, values).rowcount == 0:
                connection.execute(_ADD_SWITCH, switch_values(Switch(turned, one.seq, one.at)))
        case _:
            pass


def still_stands(connection: Connection, grant_id: GrantId, now: datetime | None) -> bool:
    """Is this grant in force? Then it is until the commit."""
    values = {"of_grant": grant_id, "now": now}
    return connection.execute(_HOLD_FAST, values).one_or_none() is not None


def grants_in_force(
    connection: Connection,
    agent: str,
    run_id: RunId,
    session: SessionId,
    now: datetime | None,
    keys: Keys,
) -> list[Grant]:
    scopes = [scope_of_run(run_id), scope_of_session(session), WHOLE_AGENT]
    values = {"of_agent": agent, "scopes": scopes, "now": now}
    return _grants(connection, IN_FORCE, values, keys)


def page_of_grants(
    connection: Connection, after: GrantId | None, limit: int, now: datetime | None, keys: Keys
) -> list[Grant]:
    """What is left aside makes no page shorter: whoever pages stops at one that is."""
    found: list[Grant] = []
    seen = after or ""
    while len(found) < limit:
        values = {"after": seen, "at_most": limit - len(found), "now": now}
        rows = connection.execute(_PAGE_OF_GRANTS, values).all()
        found += (grant for row in rows if (grant := _grant(row, keys)) is not None)
        if not rows:
            break
        seen = rows[-1].grant_id
    return found


def page_of_switches(connection: Connection, after: str, limit: int, keys: Keys) -> list[Switch]:
    """Raises ``CorruptJournal`` for a switch whose row was lost, or says anything else than the newest fact
    that turned it: whoever asks whether it is on must not be told that it is off."""
    rows = connection.execute(_PAGE_OF_SWITCHES, {"after": after, "at_most": limit}).all()
    return [_switch(row, keys) for row in rows]


def _grants(
    connection: Connection, page: Select[Any], values: Mapping[str, Any], keys: Keys
) -> list[Grant]:
    rows = connection.execute(page, values).all()
    return [grant for row in rows if (grant := _grant(row, keys)) is not None]


def _grant(row: Row[Any], keys: Keys) -> Grant | None:
    """None for a row that the journal does not bear out: consent is never guessed."""
    try:
        one = whole_fact(row, keys)
        if isinstance(one.event, GrantGiven) and one.seq == row.first_given:
            said = grant_values(grant := Grant(one.event, one.seq, one.at, row.first_revoked))
            if {name: row._mapping[name] for name in said} == said:
                return grant
        why = "its row is not what the journal says"
    except (CorruptJournal, UnknownEvent) as error:
        why = str(error)
    log.warning("the grant %s is left aside: %s", row.grant_id, why)
    return None


def _switch(row: Row[Any], keys: Keys) -> Switch:
    if row.seq is None:
        raise CorruptJournal(CONTROL, row.turned_seq, f"it never turned the switch {row.name}")
    one = whole_fact(row, keys)
    if isinstance(one.event, SwitchTurned):
        switch = Switch(one.event, one.seq, one.at)
        kept = (row.switch, row.is_on, row.turned_seq)
        if (switch.name, switch.is_on, switch.seq) == kept:
            return switch
    raise CorruptJournal(CONTROL, one.seq, f"the row of the switch {row.name} says something else")


def grant_values(grant: Grant) -> dict[str, Any]:
    return {
        "grant_id": grant.id,
        "agent": grant.given.agent,
        "scope": grant.scope,
        "expires_at": grant.given.expires_at,
        "given_seq": grant.seq,
        "revoked_seq": grant.revoked_seq,
    }


def switch_values(switch: Switch) -> dict[str, Any]:
    return {"switch": switch.name, "is_on": switch.is_on, "turned_seq": switch.seq}
