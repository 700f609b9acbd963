"""MCP servers: their tools as an agent's, with our checks before each call. Only ``connection`` imports the library."""

from __future__ import annotations
