"""HTTP: is this process alive, and is it ready?"""

from __future__ import annotations
