"""What was kept long enough can be removed: how much of each run is gone, and what is left where all of it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column(
        "runs", sa.Column("purged", sa.Integer, nullable=False, server_default=sa.text("0"))
    )
    op.add_column("runs", sa.Column("purged_to", sa.BigInteger))
    op.add_column("runs", sa.Column("spared_until", sa.BigInteger))
    op.add_column("journal", sa.Column("purged_by", sa.BigInteger))
    for name, columns, condition in (
        (
            "runs_at_rest",
            ["status", "purged", "updated_at", "run_id"],
            sa.text("status <> 'active'"),
        ),
        ("runs_purging", ["run_id"], sa.text("purged_to IS NOT NULL")),
    ):
        op.create_index(name, "runs", columns, sqlite_where=condition, postgresql_where=condition)
    op.create_index("operations_of_run", "operations", ["run_id"])
    op.create_table(
        "tombstones",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("purged_by", sa.BigInteger, nullable=False),
        sa.Column("purged_at", sa.BigInteger, nullable=False),
        sa.Column("head_seq", sa.BigInteger, nullable=False),
        sa.Column("head_hash", sa.Text, nullable=False),
    )
    op.create_table(
        "buried_approvals",
        sa.Column("approval_id", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False),
    )
