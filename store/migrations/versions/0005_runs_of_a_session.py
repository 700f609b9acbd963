"""The runs of one session are found, newest first, without a look at anybody else's; and a run that is to end
is known by its row, so that also who has not its agent can end it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index("runs_newest_of_session", "runs", ["session", "started_at", "run_id"])
    op.add_column("runs", sa.Column("is_stopping", sa.Boolean))
