"""Somebody's runs that have not ended are found without going through all that have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    condition = sa.text("status = 'active'")
    op.create_index(
        "runs_newest_active_of_requester",
        "runs",
        ["requester", "started_at", "run_id"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
