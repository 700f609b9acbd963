"""A real model on loopback, for ``make test-model`` alone."""

from __future__ import annotations
