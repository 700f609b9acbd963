"""Builds of before, as archives of their sources, and what the tests run on any of them.

``schema-NNNN.tar.gz``: ``git archive`` of ``agent`` and ``store`` as they were when that was the newest step.
"""

from __future__ import annotations
