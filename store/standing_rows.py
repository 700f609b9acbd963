"""Whether the rows of grants and switches are what the control journal says; if not, they are written anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Row,
    bindparam,
    delete,
    func,
    insert,
    select,
    true,
    update,
)

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL
from agent.rules.control import RecordedControl, can_change_verdicts
from agent.rules.standing import Standing, fold_standing
from store.bodies import Row as BodyRow
from store.bodies import read_control_body
from store.chain import Break, Chain
from store.control_facts import BEFORE, IS_BEFORE, PREVIOUS, names_in, whole_fact
from store.keys import Keys
from store.schema import control_head, control_journal, grants, switches
from store.standing import grant_values, switch_values

# With the head, so that what is compared is of one moment; one row of nothing where there is none.
_HEAD = (control_head.c.head_seq, control_head.c.head_hash, control_head.c.verdict_seq)
_ALL_GRANTS = select(*_HEAD, grants).join(grants, true(), isouter=True)
_ALL_SWITCHES = select(*_HEAD, switches).join(switches, true(), isouter=True)
_NAMED = tuple(
    select(control_journal, PREVIOUS).join(BEFORE, IS_BEFORE, isouter=True).where(name.is_not(None))
    for name in (control_journal.c.gives, control_journal.c.revokes, control_journal.c.turns)
)
_NEWEST_POLICY = select(func.max(control_journal.c.seq)).where(
    control_journal.c.policy_of.is_not(None)
)
# Never back: whoever was judged by what it said before would pass for one of now.
_SET_ANEW = update(control_head).values(verdict_seq=bindparam("new_verdict_seq", type_=BigInteger))
_MOVE = _SET_ANEW.where(control_head.c.verdict_seq < bindparam("new_verdict_seq", type_=BigInteger))
_VERDICT_SEQ = select(control_head.c.verdict_seq)
_BEHIND = (
    "the control journal's head: it does not tell of the newest fact that can change a verdict"
)
_GIVE, _ADD_SWITCH = insert(grants), insert(switches)
_NAME = (
    update(control_journal)
    .where(control_journal.c.seq == bindparam("of_seq"))
    .values({name: bindparam(f"new_{name}") for name in ("policy_of", "gives", "revokes", "turns")})
)


@dataclass
class Followed:
    """The control journal, as far as it has been read: its chain, which holds up to there, and what
    it amounts to."""

    keys: Keys
    chain: Chain = field(init=False)
    standing: Standing = field(default_factory=Standing)
    #: The facts whose rows don't say what they name.
    misnamed: list[RecordedControl] = field(default_factory=list)
    #: The newest of them that can change a verdict.
    verdict_seq: int = 0

    def __post_init__(self) -> None:
        self.chain = Chain(CONTROL, key=self.keys.audit)

    def take(self, rows: Sequence[Row[Any]]) -> None:
        """Those behind it. Raises ``CorruptJournal``, ``UnknownEvent``."""
        facts = []
        for found in rows:
            row = BodyRow.of(CONTROL, found, self.keys)
            _must_hold(self.chain.follow(row))
            fact = read_control_body(row)
            if any(getattr(found, name) != said for name, said in names_in(fact.event).items()):
                self.misnamed.append(fact)
            if can_change_verdicts(fact.event):
                self.verdict_seq = fact.seq
            facts.append(fact)
        self.standing = fold_standing(facts, self.standing)

    def end(self, head_seq: object, head_hash: object) -> None:
        """Raises ``CorruptJournal`` where this is not what the head says."""
        _must_hold(self.chain.end(head_seq, head_hash))

    def is_at(self, head: Row[Any] | Row[Any, Any]) -> bool:
        return (self.chain.seq, self.chain.hash) == (head.head_seq, head.head_hash)


def differences(connection: Connection, followed: Followed) -> list[str] | None:
    """Where the rows say anything else than the journal, in words; None: it is ahead of ``followed``."""
    given = connection.execute(_ALL_GRANTS).all()
    turned = connection.execute(_ALL_SWITCHES).all()
    if not all(followed.is_at(head) for head in (*given[:1], *turned[:1])):
        return None
    heads = (*given[:1], *turned[:1])
    return [
        *[_BEHIND for head in heads[:1] if _is_behind(head.verdict_seq, followed.verdict_seq)],
        *(f"fact {one.seq}: its row does not say what it names" for one in followed.misnamed),
        *_wrong_rows(followed.standing, given, turned),
    ]


def _is_behind(verdict_seq: object, newest: int) -> bool:
    # A file's column takes anything.
    return not isinstance(verdict_seq, int) or verdict_seq < newest


def seem_changed(connection: Connection, keys: Keys) -> bool:
    """Do the rows contradict the facts that are found by what they name? There are as many of those as people gave
    grants and turned switches, however long the journal is. What was appended meanwhile may seem so, too."""
    found = {row.seq: row for page in _NAMED for row in connection.execute(page)}
    if not all(isinstance(seq, int) for seq in found):
        return True
    try:
        facts = [whole_fact(found[seq], keys) for seq in sorted(found)]
    except (CorruptJournal, UnknownEvent):
        return True
    policy = connection.execute(_NEWEST_POLICY).scalar() or 0
    if not isinstance(policy, int):
        return True
    newest = max([policy, *found])
    given = connection.execute(_ALL_GRANTS).all()
    turned = connection.execute(_ALL_SWITCHES).all()
    is_behind = any(_is_behind(head.verdict_seq, newest) for head in given[:1])
    return is_behind or bool(_wrong_rows(fold_standing(facts), given, turned))


def write(connection: Connection, followed: Followed) -> None:
    """Write all rows anew; nobody appends meanwhile."""
    standing = followed.standing
    if isinstance(connection.execute(_VERDICT_SEQ).scalar(), int):
        connection.execute(_MOVE, {"new_verdict_seq": followed.verdict_seq})
    else:
        # Nobody knows what it said before: this is behind whatever that was.
        connection.execute(_SET_ANEW, {"new_verdict_seq": followed.chain.seq})
    connection.execute(delete(grants))
    connection.execute(delete(switches))
    if standing.grants:
        connection.execute(_GIVE, [grant_values(one) for one in standing.grants.values()])
    if standing.switches:
        connection.execute(_ADD_SWITCH, [switch_values(one) for one in standing.switches.values()])
    for fact in followed.misnamed:
        new = {f"new_{name}": said for name, said in names_in(fact.event).items()}
        connection.execute(_NAME, {"of_seq": fact.seq, **new})


def _wrong_rows(
    standing: Standing, given: Sequence[Row[Any]], turned: Sequence[Row[Any]]
) -> list[str]:
    said = {id: grant_values(grant) for id, grant in standing.grants.items()}
    switched = {name: switch_values(one) for name, one in standing.switches.items()}
    return [
        *_compare("grant", said, {r.grant_id: r for r in given if r.grant_id is not None}),
        *_compare("switch", switched, {r.switch: r for r in turned if r.switch is not None}),
    ]


def _compare(
    what: str, said: Mapping[Any, dict[str, Any]], kept: Mapping[Any, Row[Any]]
) -> list[str]:
    words = []
    for id in sorted(said.keys() | kept.keys(), key=str):
        if id not in kept:
            words.append(f"{what} {id}: its row is missing")
        elif id not in said:
            words.append(f"{what} {id}: no fact says that there is one")
        elif said[id] != {name: kept[id]._mapping[name] for name in said[id]}:
            words.append(f"{what} {id}: its row is not what the journal says")
    return words


def _must_hold(broken: Break | None) -> None:
    if broken is not None:
        raise CorruptJournal(CONTROL, broken.seq, broken.why)
