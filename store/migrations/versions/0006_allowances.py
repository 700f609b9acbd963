"""What all processes together may still do, where the outside allows only so much."""

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
    )
