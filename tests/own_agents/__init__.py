"""The agents under ``examples/`` do what their pages say, with no key."""

from __future__ import annotations
