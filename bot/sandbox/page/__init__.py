"""The page: plain files and the route that serves them."""

from __future__ import annotations
