"""A shop's payments, in two small files.

``shop.json`` is the outside system: one record an operation id, so that the same operation sent twice
is done once. ``ledger.json`` is derived from it: what was refunded, by order.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

Records = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop in this folder. Any number of processes may use it at the same time."""

    folder: Path

    def open(self) -> None:
        """Make both files if they are not there."""
        with self._locked():
            self._write(self._read())

    def refund(self, operation_id: str, order: str, amount: Decimal) -> str:
        """Refund an order, once an operation id; the refund's id."""
        return self._book(operation_id, {"kind": "refund", "order": order, "amount": str(amount)})

    def send_voucher(self, operation_id: str, order: str, amount: Decimal) -> str:
        """Send a voucher; the shop does not look at operation ids here, as such systems are."""
        with self._locked():
            records = self._read()
            number = sum(record["kind"] == "voucher" for record in records.values()) + 1
            record = {
                "kind": "voucher",
                "order": order,
                "amount": str(amount),
                "id": f"vo_{number}",
            }
            self._write({**records, f"{operation_id}#{number}": record})
        return f"vo_{number}"

    def ledger(self) -> dict[str, float]:
        """What was refunded, by order."""
        with self._locked():
            return _ledger(self._read())

    def _book(self, operation_id: str, record: dict[str, Any]) -> str:
        with self._locked():
            records = self._read()
            if operation_id not in records:
                records[operation_id] = {**record, "id": f"re_{len(records) + 1}"}
                self._write(records)
            return str(records[operation_id]["id"])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "shop.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> Records:
        path = self.folder / "shop.json"
        records: Records = json.loads(path.read_text()) if path.exists() else {}
        return records

    def _write(self, records: Records) -> None:
        _replace(self.folder / "shop.json", records)
        _replace(self.folder / "ledger.json", _ledger(records))


def _ledger(records: Records) -> dict[str, float]:
    sums: dict[str, Decimal] = {}
    for record in records.values():
        if record["kind"] == "refund":
            sums[record["order"]] = sums.get(record["order"], Decimal()) + Decimal(record["amount"])
    return {order: float(amount) for order, amount in sums.items()}


def _replace(path: Path, content: object) -> None:
    """Write the file as a whole: a reader, or a crash, sees the old one or the new one."""
    # One name, since the lock is held: what a crash leaves is overwritten.
    new = path.with_name(f".{path.name}.new")
    with new.open("w") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
