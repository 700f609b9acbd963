"""Run by Alembic, inside the transaction of the connection that it is handed."""

from __future__ import annotations

from alembic import context

from store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
)
with context.begin_transaction():
    context.run_migrations()
