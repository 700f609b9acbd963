"""Slack's limits on what an app may send. Wording of the messages is near Slack's, not certain."""

from __future__ import annotations
