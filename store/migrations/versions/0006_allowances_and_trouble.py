"""What all processes together may still do out of doors, and why a thread can't ask what its run has to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "allowances",
        sa.Column("allowance_key", sa.Text, primary_key=True),
        sa.Column("made_up_at", sa.BigInteger, nullable=False),
        sa.Column("withheld_at", sa.BigInteger),
        sa.Column("withheld_until", sa.BigInteger),
    )
    # Null: an older build knows of no trouble and says nothing of it.
    op.add_column("threads", sa.Column("trouble", sa.Text))
    op.add_column("threads", sa.Column("asked_for_at", sa.BigInteger))
    op.add_column(
        "threads",
        sa.Column("is_called_for", sa.Boolean, nullable=False, server_default=sa.false()),
    )
