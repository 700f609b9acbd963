"""A mistake that is found by comparing several keys of an entry: it says itself which of them is wrong."""

from __future__ import annotations

from pydantic_core import PydanticCustomError


def wrong_key(key: str, message: str) -> PydanticCustomError:
    """What is wrong with one key of an entry; ``at`` in its context says which, for whoever tells it."""
    return PydanticCustomError("wrong_key", "{message}", {"at": key, "message": message})
