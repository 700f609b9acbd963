"""The messages that open threads: posted before their run begins, and asked for the run that they are of."""

from __future__ import annotations
