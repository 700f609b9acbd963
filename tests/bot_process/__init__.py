"""Settings, configuration, and processes as a whole."""

from __future__ import annotations
