"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_runs()
    _create_journal()
    _create_approvals()
    _create_threads()
    _create_processes()


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("requester", sa.Text, nullable=False),
        sa.Column("key", sa.Text, unique=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.Text, nullable=False),
        sa.Column("wake_at", sa.BigInteger),
        sa.Column("holder", sa.Text),
        sa.Column("lease_expires_at", sa.BigInteger),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
    )
    _partial("runs_one_active_a_session", "runs", ["session"], "status = 'active'", unique=True)
    _partial("runs_due", "runs", ["wake_at", "run_id"], "wake_at IS NOT NULL")
    _partial("runs_held", "runs", ["holder"], "holder IS NOT NULL")
    op.create_index("runs_newest", "runs", ["started_at", "run_id"])
    op.create_index("runs_newest_of_requester", "runs", ["requester", "started_at", "run_id"])


def _create_journal() -> None:
    op.create_table(
        "journal",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("event_id", sa.Text, nullable=False, unique=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "operations",
        sa.Column("operation_id", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id"), nullable=False),
    )


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("approval_id", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id"), nullable=False),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("requested_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
    )
    op.create_index("approvals_oldest", "approvals", ["requested_at", "approval_id"])
    op.create_index("approvals_of_run", "approvals", ["run_id"])
    _partial(
        "approvals_pending", "approvals", ["requested_at", "approval_id"], "status = 'pending'"
    )


def _create_threads() -> None:
    op.create_table(
        "threads",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id"), primary_key=True),
        sa.Column("wanted_seq", sa.BigInteger, nullable=False),
        sa.Column("shown_seq", sa.BigInteger, nullable=False),
        sa.Column("wake_at", sa.BigInteger),
        sa.Column("holder", sa.Text),
        sa.Column("lease_expires_at", sa.BigInteger),
        sa.Column("fence", sa.BigInteger, nullable=False),
    )
    _partial("threads_due", "threads", ["wake_at", "run_id"], "wake_at IS NOT NULL")
    _partial("threads_held", "threads", ["holder"], "holder IS NOT NULL")
    op.create_table(
        "thread_messages",
        sa.Column("run_id", sa.Text, sa.ForeignKey("threads.run_id"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("address", sa.Text),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("attempted_at", sa.BigInteger, nullable=False),
        sa.Column("doubts", sa.Integer, nullable=False),
    )
    op.create_index("thread_messages_at", "thread_messages", ["address"])


def _create_processes() -> None:
    op.create_table(
        "processes",
        sa.Column("process_id", sa.Text, primary_key=True),
        sa.Column("build", sa.Text, nullable=False),
        sa.Column("agents", sa.Text, nullable=False),
        sa.Column("does_work", sa.Boolean, nullable=False),
        sa.Column("draws", sa.Boolean, nullable=False),
        sa.Column("beat_at", sa.BigInteger, nullable=False),
    )


def _partial(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    condition = sa.text(where)
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
