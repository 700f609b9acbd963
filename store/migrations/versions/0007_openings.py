"""Threads that are opened before their run begins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "openings",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("begun_at", sa.BigInteger, nullable=False),
        sa.Column("is_given_up", sa.Boolean, nullable=False),
    )
