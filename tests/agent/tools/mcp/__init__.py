"""MCP servers: what is pure, and what is done with real ones."""

from __future__ import annotations
