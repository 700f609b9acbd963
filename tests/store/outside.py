"""Work on a database from a thread of its own, so that a test that runs on a loop can wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, make_url

from store.groups import Transactions
from store.postgres import PostgresTransactions
from store.server import Server
from store.sqlite import SqliteTransactions

T = TypeVar("T")
PATIENCE = timedelta(seconds=10)


def in_thread(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def transactions_of(url: str, patience: timedelta = PATIENCE) -> Transactions:
    if url.startswith("sqlite"):
        return file_of(url, patience)
    return PostgresTransactions(Server(make_url(url), patience))


def file_of(url: str, patience: timedelta = PATIENCE) -> SqliteTransactions:
    return SqliteTransactions(Path(url.removeprefix("sqlite:///")), patience)


def in_transaction(url: str, work: Callable[[Connection], T]) -> T:
    """What ``work`` gives, committed."""

    def run() -> T:
        transactions = transactions_of(url)
        try:
            return transactions.run(work)
        finally:
            transactions.dispose()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()
