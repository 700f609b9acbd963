"""The database from below: what no port lets one do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from store import migrations


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


@contextmanager
def connected(url: str) -> Iterator[sqlite3.Connection]:
    """A connection without a transaction of its own."""
    with closing(sqlite3.connect(path_of(url), timeout=5, isolation_level=None)) as connection:
        yield connection


def ask(url: str, statement: str, *values: object) -> list[Any]:
    with connected(url) as connection:
        return connection.execute(statement, values).fetchall()


def migrations_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def make_database(url: str, revision: str) -> None:
    """The tables as they were at that revision."""
    engine, config = create_engine(url), migrations_config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
