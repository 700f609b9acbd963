"""What goes wrong on request, for coming calls and deliveries."""

from __future__ import annotations
