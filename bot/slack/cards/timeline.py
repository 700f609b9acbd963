"""A run's time line, as whoever wants to know who let something happen reads it on a telephone: a line an event,
the newest last, and as many of them as one private message holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.slack.cards.blocks import SECTION_LIMIT, Block, context, mrkdwn, section
from bot.slack.cards.mentions import name_principal, to_the_second
from bot.slack.cards.message import TEXT_LIMIT, Message
from bot.slack.cards.text import measure, quoted
from bot.slack.cards.timeline_unsaid import words_unsaid
from bot.slack.cards.timeline_words import Links, Told, words_of

#: Of the lines; the rest of a message is for what stands around them.
_LINES_LIMIT = 9_500
_UNSAID = "Its calls and decisions. What was said is told to whoever is in its conversation."

Words = Callable[[Recorded, RunState, Links], Told | None]


def timeline_message(
    journal: Sequence[Recorded],
    state: RunState,
    links: Links | None = None,
    *,
    is_unsaid: bool = False,
) -> Message:
    """Who did what and when, from the run's events and what they come to; ``links`` says where it stands;
    ``is_unsaid``: without what anybody said, for whoever is not in its conversation."""
    links = links or Links()
    # Who asked for what is worth more than any line behind it.
    words = words_unsaid if is_unsaid else words_of
    told = partial(_line, state=state, links=links, words=words)
    first = told(journal[0]) or ""
    newest, left_out = _newest(journal[1:], told, _LINES_LIMIT - measure(first))
    heading = (
        f"*What happened* · for {name_principal(state.requester)} · {quoted(state.run_id, 90)}"
    )
    notes = [context(mrkdwn(_UNSAID))] if is_unsaid else []
    notes += [_left_out(left_out, state)] if left_out else []
    blocks = (section(heading), section(first), *notes, *_sections(newest))
    return Message(text=_in_text(heading, first, newest), blocks=blocks)


def _line(recorded: Recorded, state: RunState, links: Links, words: Words) -> str | None:
    told = words(recorded, state, links)
    if told is None:
        return None
    link = f" · <{told.link}|look>" if told.link else ""
    return f"• {to_the_second(recorded.at)} · {told.words}{link}"


def _newest(
    journal: Sequence[Recorded], told: Callable[[Recorded], str | None], room: int
) -> tuple[list[str], int]:
    """As many lines from the end as fit, and how many events are before them. Of these nothing is put into words:
    a journal may be long."""
    lines: list[str] = []
    for number, recorded in enumerate(reversed(journal)):
        line = told(recorded)
        room -= measure(line) + 1 if line else 0
        if room < 0:
            return lines[::-1], len(journal) - number
        lines += [line] if line else []
    return lines[::-1], 0


def _sections(lines: Sequence[str]) -> list[Block]:
    """All of them, a paragraph of many: fewer blocks than Slack takes."""
    texts: list[str] = []
    for line in lines:
        longer = f"{texts[-1]}\n{line}" if texts else ""
        if texts and measure(longer) <= SECTION_LIMIT:
            texts[-1] = longer
        else:
            texts.append(line)
    return [section(text) for text in texts]


def _left_out(count: int, state: RunState) -> Block:
    which = "one event is" if count == 1 else f"{count:,} events are"
    where = f"`pilothouse journal {quoted(state.run_id, 90)}`"
    return context(mrkdwn(f"… {which} left out here. All of it, on the command line: {where}"))


def _in_text(heading: str, first: str, newest: Sequence[str]) -> str:
    """For whoever is shown no blocks: as much of the newest as fits."""
    lines, room = list[str](), TEXT_LIMIT - measure(heading) - measure(first) - 10
    for line in reversed(newest):
        room -= measure(line) + 1
        if room < 0:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join([heading, first, *reversed(lines)])
