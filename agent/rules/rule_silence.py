"""What a rule says of silence: what of it can't be kept, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Literal

from agent.rules.durations import show_duration
from agent.rules.parts import Escalation, Patience

#: How long people are waited for where neither a rule nor the tool says so.
EXPIRES = timedelta(days=7)

_THEN: Mapping[Literal["wait", "deny", "stop"], str] = {
    "wait": "it waits until it is asked again",
    "deny": "it is not done",
    "stop": "the run is stopped",
}


def what_is_wrong(patience: Patience) -> tuple[str, str] | None:
    """The key, and why what it says would never come to pass; None where all of it may."""
    expires = patience.expires or EXPIRES
    if patience.remind is not None and patience.remind >= expires:
        return (
            "remind",
            f"it is closed after {show_duration(expires)}, and nobody would be reminded",
        )
    if patience.on_expiry == "escalate" and not patience.escalate:
        return "on_expiry", "escalate says who is asked then, and it is not there"
    before = timedelta()
    for number, one in enumerate(patience.escalate):
        key = f"escalate.{number}.after"
        if one.after <= before:
            return key, "it has to be later than the one before it"
        # Whoever is not reached until then is asked by the expiry itself.
        if one.after >= expires and patience.on_expiry != "escalate":
            return key, f"it is closed after {show_duration(expires)}, and they would not be asked"
        before = one.after
    return None


def expiry_in_words(patience: Patience) -> str:
    """When silence ends it, and what follows."""
    expires = patience.expires or EXPIRES
    left = [_names(one) for one in patience.escalate if one.after >= expires]
    if patience.on_expiry == "escalate":
        then = f"others are asked: {', then '.join(left)}" if left else _THEN["wait"]
    else:
        then = _THEN[patience.on_expiry]
    return f"when nobody decides for {show_duration(expires)} {then}"


def calls_in_words(patience: Patience) -> Iterator[str]:
    """How people are called upon meanwhile: those whom the expiry comes before, it calls upon itself."""
    if patience.remind is not None:
        yield f"a reminder every {show_duration(patience.remind)}"
    for one in patience.escalate:
        if one.after < (patience.expires or EXPIRES):
            yield f"{_names(one)} too after {show_duration(one.after)}"


def _names(one: Escalation) -> str:
    return ", ".join((*one.groups, *one.users))
