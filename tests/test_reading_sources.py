"""Whoever reads a source is not stopped by a search for garbage that reads one as well."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from tests.reading_sources import parse

SOURCE = "\n".join(f"f({n}, [{n}, {{{n}: ({n}, -{n})}}])" for n in range(2_000))


@pytest.fixture
def read_by_garbage() -> Iterator[None]:
    """Each search for garbage reads a source, from further down the stack."""

    def read(phase: str, info: Any) -> None:
        compile("x", "inside", "exec", ast.PyCF_ONLY_AST)

    gc.callbacks.append(read)
    gc.collect()
    thresholds = gc.get_threshold()
    gc.set_threshold(50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(read)


def test_it_is_read_all_the_same(read_by_garbage: None) -> None:
    tree = parse(SOURCE)
    assert isinstance(tree, ast.Module)
    assert len(tree.body) == 2_000


def test_a_mistake_in_it_stays_one() -> None:
    with pytest.raises(SyntaxError, match="invalid syntax"):
        parse("x = = 1")
