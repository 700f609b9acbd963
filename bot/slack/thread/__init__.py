"""The thread as a projection of its run: what it is to show, and making Slack show it."""

from __future__ import annotations
