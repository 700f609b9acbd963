"""The sandbox against real clients over real sockets."""

from __future__ import annotations
