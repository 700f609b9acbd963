"""What a rule says of silence: what of it can't be kept, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from agent.rules.durations import show_duration
from agent.rules.parts import OnExpiry, Patience

#: How long people are waited for where neither a rule nor the tool says so.
EXPIRES = timedelta(days=7)

_THEN: Mapping[OnExpiry, str] = {
    "wait": "it waits until it is asked again",
    "deny": "it is not done",
    "stop": "the run is stopped",
    "escalate": "others are asked",
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
    expires = show_duration(patience.expires or EXPIRES)
    return f"when nobody decides for {expires} {_THEN[patience.on_expiry]}"


def calls_in_words(patience: Patience) -> Iterator[str]:
    """How people are called upon meanwhile."""
    if patience.remind is not None:
        yield f"a reminder every {show_duration(patience.remind)}"
    for one in patience.escalate:
        yield f"{', '.join((*one.groups, *one.users))} too after {show_duration(one.after)}"
