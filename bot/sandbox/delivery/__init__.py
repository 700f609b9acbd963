"""How events and interactions reach the app: Socket Mode, or signed HTTP."""

from __future__ import annotations
