"""What passed between Slack and the app, to look at in short and to send again."""

from __future__ import annotations
