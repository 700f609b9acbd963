"""How often a run was claimed in vain, the active runs by age, each process's tools, and the control
journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _count_claims()
    _say_tools()
    _create_control_journal()


def _count_claims() -> None:
    none_yet = sa.text("0")
    op.add_column("runs", sa.Column("claims", sa.Integer, nullable=False, server_default=none_yet))
    is_active = sa.text("status = 'active'")
    op.create_index(
        "runs_newest_active",
        "runs",
        ["started_at", "run_id"],
        sqlite_where=is_active,
        postgresql_where=is_active,
    )


def _say_tools() -> None:
    op.add_column("processes", sa.Column("tools", sa.Text))


def _create_control_journal() -> None:
    op.create_table(
        "control_journal",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("event_id", sa.Text, nullable=False, unique=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("policy_of", sa.Text),
    )
    is_policy = sa.text("policy_of IS NOT NULL")
    op.create_index(
        "control_policies",
        "control_journal",
        ["policy_of", "seq"],
        sqlite_where=is_policy,
        postgresql_where=is_policy,
    )
    head = op.create_table(
        "control_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.Text, nullable=False),
    )
    op.bulk_insert(head, [{"id": 1, "head_seq": 0, "head_hash": ""}])
