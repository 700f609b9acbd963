"""What a person does in the sandbox, and what the app gets to know of it."""

from __future__ import annotations
