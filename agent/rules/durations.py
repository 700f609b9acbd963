"""Lengths of time: as a policy has them (``3s 10m 2h 1d``), and as people read them."""

from __future__ import annotations

import re
from datetime import timedelta

#: Nothing that a policy speaks of lasts longer.
LONGEST = timedelta(days=3650)

_FORM = re.compile(r"([0-9]{1,9})([smhd])")
_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}
_SHOWN = {"d": "d", "h": "h", "m": "min", "s": "s"}


def read_duration(text: str) -> timedelta:
    """A whole number and its unit: ``3s``, ``10m``, ``2h``, ``1d``. Raises ``ValueError``, with a
    sentence for whoever wrote it."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(f"{text!r} is no length of time; write one such as 30s, 10m, 2h or 1d")
    length = int(form[1]) * _UNITS[form[2]]
    if length > LONGEST:
        raise ValueError(f"{text} is too long; {LONGEST.days}d is the most")
    return length


def show_duration(length: timedelta) -> str:
    """The two largest units, rounded down: ``2 h``, ``1 h 30 min``, ``45 s``."""
    rest = max(length, timedelta())
    parts: list[tuple[int, str]] = []
    for unit, size in _UNITS.items():
        number, rest = divmod(rest, size)
        if number or parts:
            parts.append((number, _SHOWN[unit]))
    return " ".join(f"{number} {unit}" for number, unit in parts[:2] if number) or "0 s"
