"""Slack's Web API: one file a family of methods, each a plain function of the sandbox."""

from __future__ import annotations
