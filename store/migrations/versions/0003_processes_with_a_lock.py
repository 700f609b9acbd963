"""Whether a process holds a lock that would show its death."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    is_true = sa.true()
    op.add_column(
        "processes", sa.Column("has_lock", sa.Boolean, nullable=False, server_default=is_true)
    )
