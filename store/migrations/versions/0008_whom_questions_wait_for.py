"""What waits for a person, and what they or others decided of theirs lately, is found without a look at anything
else. Where an older build asked or decided, its rows say nothing of that, and are made whole by the journals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("approvals", sa.Column("requester", sa.Text))
    op.add_column(
        "approvals", sa.Column("stage", sa.Integer, nullable=False, server_default=sa.text("0"))
    )
    op.add_column("approvals", sa.Column("decided_by", sa.Text))
    op.add_column("approvals", sa.Column("decided_at", sa.BigInteger))
    decided, of_before = (
        sa.text("decided_at IS NOT NULL"),
        sa.text("requester IS NULL AND status IN ('pending', 'expired')"),
    )
    for name, columns, condition in (
        ("approvals_decided_by", ["decided_by", "decided_at", "approval_id"], decided),
        ("approvals_decided_for", ["requester", "decided_at", "approval_id"], decided),
        ("approvals_of_before", ["requested_at", "approval_id"], of_before),
    ):
        op.create_index(
            name, "approvals", columns, sqlite_where=condition, postgresql_where=condition
        )
    op.create_table(
        "awaited",
        sa.Column("approval_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("stage", sa.Integer, nullable=False),
        sa.Column("requested_at", sa.BigInteger, nullable=False),
    )
    op.create_index("awaited_oldest", "awaited", ["kind", "name", "requested_at", "approval_id"])
