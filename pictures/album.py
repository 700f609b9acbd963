"""All pictures of the docs."""

from __future__ import annotations

from typing import Final

from pictures.approvals import decided, pending, several
from pictures.forms import modals
from pictures.homes import homes
from pictures.inspecting import inspecting
from pictures.picture import Picture
from pictures.questions import budgets, calls_out, questions, reviews
from pictures.threads import (
    elsewhere,
    grants,
    guidance,
    long_answers,
    refusals,
    said_since,
    statuses,
    streamed,
    time_lines,
)

PICTURES: Final[tuple[Picture, ...]] = tuple(
    picture
    for some in (
        pending,
        decided,
        several,
        questions,
        reviews,
        budgets,
        calls_out,
        statuses,
        streamed,
        long_answers,
        said_since,
        guidance,
        elsewhere,
        refusals,
        grants,
        time_lines,
        modals,
        homes,
        inspecting,
    )
    for picture in some()
)
