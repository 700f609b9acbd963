"""The tests; a folder a package, and what crosses packages in folders of its own."""

from __future__ import annotations
