"""Where a reference within a JSON schema leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote


def target_of(ref: object, schema: Mapping[str, Any]) -> object:
    """The part of ``schema`` that ``ref``, such as ``#/$defs/A``, stands for; None where there is none."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    target: Any = schema
    for step in ref.removeprefix("#/").split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(name)
        elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target
