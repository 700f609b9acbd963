"""What Slack's own client doesn't take from a person."""

from __future__ import annotations


class NotTaken(Exception):
    """The client shows this at the field, and the app hears nothing."""
