"""What an approval is bound to: exactly one call, as it was shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785
from pydantic import JsonValue


def digest(value: Any) -> str:
    """SHA-256 of the value's canonical JSON (RFC 8785), in hex.

    Raises ``ValueError`` for what has no canonical form: NaN, integers beyond 2**53.
    """
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def binding_hash(
    tool: str, schema_digest: str, args: Mapping[str, JsonValue], preview: str | None
) -> str:
    """The hash of what a person says yes to; at execution it must still be the same."""
    return digest({"tool": tool, "schema": schema_digest, "args": dict(args), "preview": preview})
