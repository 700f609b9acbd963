"""The runs of one session are found, newest first, without a look at anybody else's; and a run that a person
holds, or that is to end, is known by its row: so that nobody reads the former in vain, and who has not the
agent of the latter can end it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index("runs_newest_of_session", "runs", ["session", "started_at", "run_id"])
    # No build of before held a run, or stopped one.
    for name in ("is_held", "is_stopping"):
        op.add_column(
            "runs", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false())
        )
