"""Bodies may be encrypted: which keys are in use, and how far what is kept has been brought under the newest. Chains
may take an audit key: what had ended before has a mark that takes it. Processes say which keys they have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "keys",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("proof", sa.Text, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        sa.Column("in_use_since", sa.BigInteger, nullable=False),
        sa.Column("is_in_use", sa.Boolean, nullable=False),
    )
    op.create_table(
        "rewriting",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("journal", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("found", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("lease_expires_at", sa.BigInteger),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("is_done", sa.Boolean, nullable=False),
    )
    op.add_column("runs", sa.Column("mark", sa.Text))
    op.add_column("processes", sa.Column("held_keys", sa.Text))
