"""Secrets in what is shown. Only the display is masked: what runs is what was approved.

A mask also hides from whoever decides. So the patterns take no more than a secret's own characters
where they can, and every card says when something is masked.
"""

from __future__ import annotations

import re

from agent.rules.secrets import MASK, SECRET_NAMES

# None of these begins with a repetition: on long text that would be quadratic.
_PATTERNS = (
    # A PEM block, also one inside a JSON string.
    re.compile(
        r"(?P<keep>-----BEGIN [A-Z0-9 ]{1,40}-----)"
        r"(?:(?:\\r|\\n|\s)+(?:[A-Za-z-]{1,40}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{1,100}))*"
    ),
    re.compile(
        r"(?P<keep>authorization\\?['\"]?\s*[:=]\s*\\?['\"]?(?:(?:bearer|basic|token|digest)\s+)?)"
        r"[^\s'\",;\\]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>\bbearer\s+)[A-Za-z0-9+/=_.~-]{8,}", re.IGNORECASE),
    # scheme://user:password@host
    re.compile(r"(?P<keep>://[^\s:/@]{0,256}:)[^\s/@]+(?=@)"),
    # name=value, name: value, "name": "value"
    re.compile(
        rf"(?P<keep>{SECRET_NAMES}\\?['\"]?\s*[:=]\s*)"
        r"(?:\\\"(?:[^\\\"\n])*\\\"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s,;&'\"}<>|()]+)",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>[?&](?:key|sig|signature|auth)=)[^\s&#'\"]+", re.IGNORECASE),
    # Tokens that say what they are.
    re.compile(r"(?P<keep>\bxox[a-z]-|\bxapp-)[A-Za-z0-9-]{6,}"),
    re.compile(r"(?P<keep>\bsk-|\bgh[pousr]_|\bgithub_pat_|\bglpat-)[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?P<keep>\bAKIA|\bASIA|\bAIza)[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?P<keep>\beyJ)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?"),
)


def mask(text: str) -> str:
    """The text with everything that is known to look like a secret replaced by ``••••••••``."""
    for pattern in _PATTERNS:
        text = pattern.sub(lambda found: f"{found['keep']}{MASK}", text)
    return text
