"""Going over a journal once more: would this build have taken the same steps, and might people have done what
stands there? Pure, as the rules are."""

from __future__ import annotations
