"""Who asks for faults: by HTTP or from Python, for later or at once."""

from __future__ import annotations
