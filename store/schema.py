"""The tables. ``runs`` is the scheduling head of each run; ``journal`` is the truth; the rest are
projections, written in the same transaction as their event.

Whoever changes a table adds a step under ``migrations/versions`` and moves its ``HEAD``.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    false,
    text,
    true,
)

from store.instants import Instant
from store.names import Name

#: The form of a run's journal that this build writes, and the newest that it can fold. An append makes
#: the run one of this form: an older build leaves it alone then, instead of claiming it, finding a fact
#: that it can't read, and putting it off for everybody. 2: votes, previews, questions, reopened runs.
#: 3: messages, holds, stops, silence, budgets, forks, calls that reserve something of a limit.
#: 4: questions that are asked elsewhere than in the thread, or otherwise than by a mention.
#: 5: messages that are edited or deleted, quote what others said, or come with files; questions that any
#: full member may answer.
FORMAT = 6
FORM_WITH_LIMITS = 3

metadata = MetaData()


def _partial(name: str, where: str, *columns: str, unique: bool = False) -> Index:
    """An index of the few rows that are looked for, so that it stays small as history grows."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


runs = Table(
    "runs",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("agent", Name, nullable=False),
    Column("session", Name, nullable=False),
    Column("requester", Name, nullable=False),
    # Of the trigger; a repeated delivery finds the run that is there.
    Column("key", Name, unique=True),
    Column("status", Text, nullable=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_hash", Text, nullable=False),
    # When it is due; a lease's end while it is held; null for "not before an event".
    Column("wake_at", Instant),
    Column("holder", Name),
    Column("lease_expires_at", Instant),
    Column("fence", BigInteger, nullable=False),
    # How often it was claimed since its journal moved. An older build inserts rows without it.
    Column("claims", Integer, nullable=False, server_default=text("0")),
    Column("started_at", Instant, nullable=False),
    # When it last moved, but for what its holder appends to it while it is active and nothing else follows from that:
    # it is asked of runs that have ended, or are to end.
    Column("updated_at", Instant, nullable=False),
    Column("format", Integer, nullable=False),
    # Does a person hold it? An older build inserts rows without it, and holds nothing.
    Column("is_held", Boolean, nullable=False, server_default=false()),
    # Of the head of a run that ended before there was an audit key: see ``store.marks``. Null for all others.
    Column("mark", Text),
    # Is it to end? An older build, which stops no run, inserts rows without it.
    Column("is_stopping", Boolean, nullable=False, server_default=false()),
    # What keeps it from going on, a switch or a window: see ``store.halted``. An older build inserts rows without it.
    Column("halted_by", Name, nullable=False, server_default=text("''")),
    # How much of it was removed, as ``agent.rules.purges.level_of`` counts; up to which of its facts, where that
    # has been begun and is not done; until when retention leaves it alone.
    Column("purged", Integer, nullable=False, server_default=text("0")),
    Column("purged_to", BigInteger),
    Column("spared_until", Instant),
    _partial("runs_one_active_a_session", "status = 'active'", "session", unique=True),
    _partial("runs_due", "wake_at IS NOT NULL", "wake_at", "run_id"),
    _partial("runs_held", "holder IS NOT NULL", "holder"),
    _partial("runs_halted", "halted_by <> ''", "run_id"),
    Index("runs_newest", "started_at", "run_id"),
    _partial("runs_newest_active", "status = 'active'", "started_at", "run_id"),
    Index("runs_newest_of_requester", "requester", "started_at", "run_id"),
    # Of somebody who has had very many runs, those that have not ended.
    _partial(
        "runs_newest_active_of_requester",
        "status = 'active'",
        "requester",
        "started_at",
        "run_id",
    ),
    Index("runs_newest_of_session", "session", "started_at", "run_id"),
    # Those that are left alone stand behind the others, however many they are.
    _partial(
        "runs_at_rest",
        "status <> 'active'",
        "status",
        "purged",
        "spared_until",
        "updated_at",
        "run_id",
    ),
    _partial("runs_purging", "purged_to IS NOT NULL", "run_id"),
)

journal = Table(
    "journal",
    metadata,
    Column("run_id", Name, ForeignKey("runs.run_id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", Name, nullable=False, unique=True),
    Column("at", Instant, nullable=False),
    Column("hash", Text, nullable=False),
    # Text, never a database's JSON type: the bytes are hashed as they were first written.
    Column("body", Text, nullable=False),
    # Where something was removed of the body, which the hash covers no more: the fact of the control journal that
    # says so, and covers what is left.
    Column("purged_by", BigInteger),
)

# What is left of a run of which everything was removed, but for the fact of the control journal that says so.
tombstones = Table(
    "tombstones",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("purged_by", BigInteger, nullable=False),
    Column("purged_at", Instant, nullable=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_hash", Text, nullable=False),
)

# What had been asked in such runs: whoever clicks on a card of theirs is told what became of it.
buried_approvals = Table(
    "buried_approvals",
    metadata,
    Column("approval_id", Name, primary_key=True),
    Column("run_id", Name, nullable=False),
)

operations = Table(
    "operations",
    metadata,
    Column("operation_id", Name, primary_key=True),
    Column("run_id", Name, ForeignKey("runs.run_id"), nullable=False),
    # Without it the removal of a run would look through all of them.
    Index("operations_of_run", "run_id"),
)

# The facts that belong to no run, and the one row of their head, which every append locks: so that two
# can't follow the same fact, and a tail that was cut off is missed.
control_journal = Table(
    "control_journal",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", Name, nullable=False, unique=True),
    Column("at", Instant, nullable=False),
    Column("hash", Text, nullable=False),
    Column("body", Text, nullable=False),
    # Projections, by which a fact is found: the agent whose policy it names, the grant that it gives or
    # revokes, the switch that it turns.
    Column("policy_of", Name),
    Column("gives", Name),
    Column("revokes", Name),
    Column("turns", Name),
    _partial("control_policies", "policy_of IS NOT NULL", "policy_of", "seq"),
    _partial("control_gives", "gives IS NOT NULL", "gives", "seq"),
    _partial("control_revokes", "revokes IS NOT NULL", "revokes", "seq"),
    _partial("control_turns", "turns IS NOT NULL", "turns", "seq"),
)

control_head = Table(
    "control_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_hash", Text, nullable=False),
    # The newest fact that can change a verdict: see ``store.verdicts``.
    Column("verdict_seq", BigInteger, nullable=False, server_default=text("0")),
)

# Consent that stands: what decides whether a grant is in force. The rest of it is in its fact.
grants = Table(
    "grants",
    metadata,
    Column("grant_id", Name, primary_key=True),
    Column("agent", Name, nullable=False),
    # A run's, a session's, or the whole agent's: see ``Grant.scope``.
    Column("scope", Name, nullable=False),
    Column("expires_at", Instant),
    Column("given_seq", BigInteger, nullable=False),
    Column("revoked_seq", BigInteger),
    _partial("grants_standing", "revoked_seq IS NULL", "agent", "scope"),
)

switches = Table(
    "switches",
    metadata,
    Column("switch", Name, primary_key=True),
    Column("is_on", Boolean, nullable=False),
    Column("turned_seq", BigInteger, nullable=False),
)

# The sum of what counts of its reservations: a decimal number as text, for no database may round it.
limits = Table(
    "limits",
    metadata,
    Column("limit_key", Name, primary_key=True),
    Column("used", Text, nullable=False),
)

reservations = Table(
    "reservations",
    metadata,
    Column("run_id", Name, ForeignKey("runs.run_id"), primary_key=True),
    Column("call_id", Name, primary_key=True),
    Column("limit_key", Name, primary_key=True),
    Column("amount", Text, nullable=False),
    # See ``agent.rules.reservations``.
    Column("status", Text, nullable=False),
    Index("reservations_of_limit", "limit_key"),
)

approvals = Table(
    "approvals",
    metadata,
    Column("approval_id", Name, primary_key=True),
    Column("run_id", Name, ForeignKey("runs.run_id"), nullable=False),
    Column("call_id", Name, nullable=False),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("requested_at", Instant, nullable=False),
    Column("expires_at", Instant),
    # Who asked for its run: null where an older build asked it, which says nothing of whom it waits for.
    Column("requester", Name),
    # How many of its escalations have been reached.
    Column("stage", Integer, nullable=False, server_default=text("0")),
    Column("decided_by", Name),
    Column("decided_at", Instant),
    Index("approvals_oldest", "requested_at", "approval_id"),
    _partial("approvals_pending", "status = 'pending'", "requested_at", "approval_id"),
    Index("approvals_of_run", "run_id"),
    _partial(
        "approvals_decided_by", "decided_at IS NOT NULL", "decided_by", "decided_at", "approval_id"
    ),
    _partial(
        "approvals_decided_for", "decided_at IS NOT NULL", "requester", "decided_at", "approval_id"
    ),
    _partial(
        "approvals_of_before",
        "requester IS NULL AND status IN ('pending', 'expired')",
        "requested_at",
        "approval_id",
    ),
)

# For whom each approval waits: see ``store.awaited``. An older build that puts an approval right takes its row
# away for a moment, so nothing refers to it.
awaited = Table(
    "awaited",
    metadata,
    Column("approval_id", Name, primary_key=True),
    # ``user``, ``group``, ``principal`` or ``barred``.
    Column("kind", Text, primary_key=True),
    Column("name", Name, primary_key=True),
    # From which of its escalations on.
    Column("stage", Integer, nullable=False),
    Column("requested_at", Instant, nullable=False),
    Index("awaited_oldest", "kind", "name", "requested_at", "approval_id"),
)

threads = Table(
    "threads",
    metadata,
    Column("run_id", Name, ForeignKey("runs.run_id"), primary_key=True),
    Column("wanted_seq", BigInteger, nullable=False),
    Column("shown_seq", BigInteger, nullable=False),
    Column("wake_at", Instant),
    Column("holder", Name),
    Column("lease_expires_at", Instant),
    Column("fence", BigInteger, nullable=False),
    # Why what its run asks can't be shown there; null while it can.
    Column("trouble", Text),
    # When somebody last asked that it be tried, whatever it is put off for.
    Column("asked_for_at", Instant),
    # Has somebody called for it since it was last claimed, so that it is not to be put off? An older build
    # inserts rows without it.
    Column("is_called_for", Boolean, nullable=False, server_default=false()),
    _partial("threads_due", "wake_at IS NOT NULL", "wake_at", "run_id"),
    _partial("threads_held", "holder IS NOT NULL", "holder"),
)

thread_messages = Table(
    "thread_messages",
    metadata,
    Column("run_id", Name, ForeignKey("threads.run_id"), primary_key=True),
    Column("key", Name, primary_key=True),
    Column("status", Text, nullable=False),
    Column("address", Name),
    Column("digest", Text, nullable=False),
    Column("attempted_at", Instant, nullable=False),
    Column("doubts", Integer, nullable=False),
    Index("thread_messages_at", "address"),
)

# Threads whose first message is posted before their run begins: of runs that are not there yet.
openings = Table(
    "openings",
    metadata,
    Column("run_id", Name, primary_key=True),
    Column("place", Name, nullable=False),
    Column("begun_at", Instant, nullable=False),
    # Then the run does not begin any more.
    Column("is_given_up", Boolean, nullable=False),
)

# What all processes together may still do, where the outside allows only so much: see ``store.allowances``.
# Starts that are counted take turns by rows of their own here: see ``store.starts``.
allowances = Table(
    "allowances",
    metadata,
    Column("allowance_key", Name, primary_key=True),
    Column("made_up_at", Instant, nullable=False),
    Column("withheld_at", Instant),
    Column("withheld_until", Instant),
)

processes = Table(
    "processes",
    metadata,
    Column("process_id", Name, primary_key=True),
    Column("build", Name, nullable=False),
    # A JSON array of names.
    Column("agents", Text, nullable=False),
    # A JSON object: each agent's tools by name. An older build inserts rows without it.
    Column("tools", Text),
    Column("does_work", Boolean, nullable=False),
    Column("draws", Boolean, nullable=False),
    Column("beat_at", Instant, nullable=False),
    # Is there a lock that would show its death? An older build, which says nothing of it, has one.
    Column("has_lock", Boolean, nullable=False, server_default=true()),
    # The newest step under ``migrations`` that it knows, and the newest form of journals that it folds.
    # An older build inserts rows without them.
    Column("schema", Text),
    Column("form", Integer),
    # A JSON object: ``encryption``, the ids of its keys, newest first; ``audit``, has it that key? Null: it has none.
    Column("held_keys", Text),
)

# What the facts are kept with, without the keys themselves: see ``store.key_registry``.
keys = Table(
    "keys",
    metadata,
    # ``encryption``, or ``audit`` for the one key of the chains.
    Column("kind", Text, primary_key=True),
    Column("key_id", Name, primary_key=True),
    # What only this key says.
    Column("proof", Text, nullable=False),
    # Grows: the newest has the highest.
    Column("place", BigInteger, nullable=False),
    Column("in_use_since", Instant, nullable=False),
    # False once nothing is kept with it any more.
    Column("is_in_use", Boolean, nullable=False),
)

# How far each round has come that brings bodies under the newest key (``control``, ``runs``), or marks what the
# audit key does not cover (``marks``): see ``store.rotating``.
rewriting = Table(
    "rewriting",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key_id", Name, nullable=False),
    # Behind this fact, or this run; of the control journal by the seq alone.
    Column("journal", Name, nullable=False),
    Column("seq", BigInteger, nullable=False),
    # So many facts had to be rewritten since the beginning of this round.
    Column("found", BigInteger, nullable=False),
    Column("holder", Name),
    Column("lease_expires_at", Instant),
    Column("fence", BigInteger, nullable=False),
    Column("is_done", Boolean, nullable=False),
)

# The one row that says which builds may run on these tables: those that know this step.
schema_floor = Table(
    "schema_floor",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("must_know", Text, nullable=False),
)
