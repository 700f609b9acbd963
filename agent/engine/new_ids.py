"""Names that nobody has used."""

from __future__ import annotations

import uuid_utils


class UuidIds:
    """Ids from UUIDv7: unique without asking anybody, and ordered by time."""

    def new(self, prefix: str) -> str:
        return f"{prefix}_{uuid_utils.uuid7().hex}"

    def event(self) -> str:
        return str(uuid_utils.uuid7())
