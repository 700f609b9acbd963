"""The rules of a run: what can happen, what it amounts to, what comes next.

Everything in this room is pure. It takes values and gives values: no clock, no random number, no
network, no file, no asyncio. What needs those stands behind ``agent.ports``.
"""

from __future__ import annotations
