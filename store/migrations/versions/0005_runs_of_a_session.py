"""The runs of one session are found, newest first, without a look at anybody else's."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index("runs_newest_of_session", "runs", ["session", "started_at", "run_id"])
