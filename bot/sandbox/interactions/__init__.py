"""What an interaction hands to the app: triggers, response URLs, views."""

from __future__ import annotations
