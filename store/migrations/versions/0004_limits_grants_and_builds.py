"""What is used of limits, which grants and switches stand, and which builds may run on these tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _create_limits()
    _create_grants_and_switches()
    _say_which_builds_may_run()


def _create_limits() -> None:
    op.create_table(
        "limits",
        sa.Column("limit_key", sa.Text, primary_key=True),
        sa.Column("used", sa.Text, nullable=False),
    )
    op.create_table(
        "reservations",
        sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id"), primary_key=True),
        sa.Column("call_id", sa.Text, primary_key=True),
        sa.Column("limit_key", sa.Text, primary_key=True),
        sa.Column("amount", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
    )
    op.create_index("reservations_of_limit", "reservations", ["limit_key"])


def _create_grants_and_switches() -> None:
    op.create_table(
        "grants",
        sa.Column("grant_id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("given_seq", sa.BigInteger, nullable=False),
        sa.Column("revoked_seq", sa.BigInteger),
    )
    stands = sa.text("revoked_seq IS NULL")
    op.create_index(
        "grants_standing",
        "grants",
        ["agent", "scope"],
        sqlite_where=stands,
        postgresql_where=stands,
    )
    op.create_table(
        "switches",
        sa.Column("switch", sa.Text, primary_key=True),
        sa.Column("is_on", sa.Boolean, nullable=False),
        sa.Column("turned_seq", sa.BigInteger, nullable=False),
    )
    # No fact of before names any of these.
    for names in ("gives", "revokes", "turns"):
        op.add_column("control_journal", sa.Column(names, sa.Text))
        has_it = sa.text(f"{names} IS NOT NULL")
        op.create_index(
            f"control_{names}",
            "control_journal",
            [names, "seq"],
            sqlite_where=has_it,
            postgresql_where=has_it,
        )


def _say_which_builds_may_run() -> None:
    floor = op.create_table(
        "schema_floor",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("must_know", sa.Text, nullable=False),
    )
    op.bulk_insert(floor, [{"id": 1, "must_know": "0001"}])
    op.add_column("processes", sa.Column("schema", sa.Text))
    op.add_column("processes", sa.Column("form", sa.Integer))
