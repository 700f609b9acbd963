"""The newest fact that can change a verdict, which the start of a call is compared with; and what keeps a run from
going on, by which it is found once that is over."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column(
        "control_head",
        sa.Column("verdict_seq", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    )
    # Which of the facts up to here it is nobody need know: what starts from now on was judged after them.
    op.execute("UPDATE control_head SET verdict_seq = head_seq")
    op.add_column(
        "runs", sa.Column("halted_by", sa.Text, nullable=False, server_default=sa.text("''"))
    )
    is_halted = sa.text("halted_by <> ''")
    op.create_index(
        "runs_halted", "runs", ["run_id"], sqlite_where=is_halted, postgresql_where=is_halted
    )
