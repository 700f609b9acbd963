"""A local Slack: the Web API, Socket Mode, signed HTTP, and a page to be its users on.

It imports nothing of Pilothouse, and Pilothouse does not know that it is there.
"""

from __future__ import annotations
