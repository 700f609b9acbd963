"""What people see: values in, Block Kit out. Nothing here knows the time or calls anybody."""

from __future__ import annotations
