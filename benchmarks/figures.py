"""One figure: what was measured, and what it must not exceed."""

from __future__ import annotations


def figure(name: str, ratio: float, target: float, **more: float) -> dict[str, object]:
    return {
        "figure": name,
        "ratio": round(ratio, 3),
        "target": target,
        "met": ratio <= target,
        **{key: round(value, 3) for key, value in more.items()},
    }
