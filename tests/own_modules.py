"""Modules that a test writes beside its configuration, and this process imports."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_modules_forgotten() -> Iterator[None]:
    """What a test has imported by a name of its own (``own_…``), and where from, is not found by the next."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("own_"):
            del sys.modules[name]
