"""Runs that retention leaves alone for a while stand apart from those that it looks at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    condition = sa.text("status <> 'active'")
    op.drop_index("runs_at_rest", "runs")
    op.create_index(
        "runs_at_rest",
        "runs",
        ["status", "purged", "spared_until", "updated_at", "run_id"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
