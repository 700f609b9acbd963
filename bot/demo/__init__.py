"""The demo: a shop that refunds, an agent that works for it, and a model that needs no key."""

from __future__ import annotations
