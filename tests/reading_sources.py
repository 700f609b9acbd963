"""A test that fails is shown, also where Python stumbles over its source.

Until 3.11.8 and 3.12.2 all threads counted how deep they are in a tree of syntax with one counter. Who is interrupted
there, by another thread or a search for garbage, got a ``SystemError``, by which pytest ended the whole run.
"""

from __future__ import annotations

import ast
import gc
import sys
from typing import Any

import pytest

IS_SHARED = sys.version_info[:2] <= (3, 12) and sys.version_info < (
    (3, 11, 8) if sys.version_info[:2] == (3, 11) else (3, 12, 2)
)
_TRIES = 5
_parse = ast.parse


def pytest_configure(config: pytest.Config) -> None:
    if IS_SHARED:
        patch = pytest.MonkeyPatch()
        patch.setattr(ast, "parse", parse)
        config.add_cleanup(patch.undo)


def parse(*args: Any, **options: Any) -> ast.AST:
    """As ``ast.parse``, several times if need be. A ``SyntaxError`` at last: then a reader does without."""
    was_enabled = gc.isenabled()
    try:
        for _ in range(_TRIES):
            try:
                tree: ast.AST = _parse(*args, **options)
                return tree
            except SystemError as error:
                if "recursion depth mismatch" not in str(error):
                    raise
                gc.disable()
    finally:
        if was_enabled:
            gc.enable()
    raise SyntaxError("Python lost count of how deep it is in this source")
