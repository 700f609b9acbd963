"""Real MCP servers of others: `make test-mcp`."""

from __future__ import annotations
