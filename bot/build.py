"""Which build this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _build() -> str:
    try:
        return version("pilothouse")
    except PackageNotFoundError:
        return "unpacked"


BUILD = _build()
