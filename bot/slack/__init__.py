"""Slack: what comes from it, and what it is made to show."""

from __future__ import annotations
