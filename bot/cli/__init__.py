"""The command line. A file a group of commands; what is heavy is imported by the command that needs it."""

from __future__ import annotations
