"""Figures, each as a ratio to a floor that was measured in the same run."""

from __future__ import annotations
