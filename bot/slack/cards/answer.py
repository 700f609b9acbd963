"""How a run ended: its answer, or what went wrong, what was done and what was not."""

from __future__ import annotations

from dataclasses import replace

from agent.rules.calls import Call
from agent.rules.state import RunState
from bot.slack.cards.answer_file import ANSWER_FILE, LONGEST, AnswerFile
from bot.slack.cards.blocks import (
    SECTION_LIMIT,
    Block,
    context,
    lines,
    mrkdwn,
    plain,
    plain_section,
    section,
)
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN, dry_run_blocks
from bot.slack.cards.interrupted import how_it_was_stopped
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.message import TEXT_LIMIT, Message
from bot.slack.cards.outcome import fate_of
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import (
    SHORTENED,
    beginning,
    cut,
    escape,
    one_line,
    quoted,
    shorten,
    show,
    split,
)

#: Of one message; a longer answer takes several.
_PART_LIMIT = 9_000
#: So many are read as they stand; what is longer is a file below its beginning.
_FEW = 2
_BEGINNING = 1_500
#: Where Slack takes no file, what no model says at once is not posted for minutes: the rest of it stands in the
#: journal, and the last message says where.
_PARTS_LIMIT = 20
_CALLS_LIMIT = 15


def answer_messages(state: RunState, *, is_split: bool = False) -> tuple[Message, ...]:
    """The last word of an ended run; none before its end. Of what is a file (``answer_in_file``) only the
    beginning, unless ``is_split``: then in as many messages as it needs."""
    match state.ending:
        case None:
            return ()
        case "finished" if not is_split and _is_long(state.answer or ""):
            return _with_dry_run((_beginning_of(state.answer or ""),), state)
        case "finished":
            return _with_dry_run(_answer(state.answer or "", state.run_id), state)
        case "failed":
            return _with_dry_run((_unfinished("✗", "failed", state),), state)
        case "cancelled":
            ended = _unfinished("⏹", how_it_was_stopped(state).removeprefix("its run "), state)
            return _with_dry_run((ended,), state)


def _with_dry_run(messages: tuple[Message, ...], state: RunState) -> tuple[Message, ...]:
    """What a model says it did may not be so: that stands before its words."""
    if not (told := dry_run_blocks(state)):
        return messages
    first, *others = messages
    text = shorten(f"{DRY_RUN_IN_PLAIN} · {first.text}", TEXT_LIMIT)
    return (replace(first, text=text, blocks=(*told, *first.blocks)), *others)


def answer_in_file(state: RunState) -> AnswerFile | None:
    """The file with all of it, where it is too long for messages."""
    answer = state.answer or ""
    if state.ending != "finished" or not _is_long(answer):
        return None
    return AnswerFile(answer, state.run_id)


def gone_on_message() -> Message:
    """In place of how a run had failed, once it has been taken on again."""
    words = "↻ It had failed here, and was taken on again."
    return Message(text=words, blocks=(section(words),))


def _is_long(answer: str) -> bool:
    if len(answer) <= _PART_LIMIT:
        return False
    return len(_written(show(beginning(answer, _PART_LIMIT * (_FEW + 1))).text, _PART_LIMIT)) > _FEW


def _beginning_of(answer: str) -> Message:
    # No amount may look whole that is not: it ends with a line where there are any, and says that it goes on.
    text = split(show(beginning(answer, _BEGINNING * 2)).text, _BEGINNING)[0] + SHORTENED
    size = f"{len(answer):,} characters"
    what = (
        f"All of its {size}" if len(answer) <= LONGEST else f"The first {LONGEST:,} of its {size}"
    )
    more = f"This is how it begins. {what} are in the file `{ANSWER_FILE}` below."
    return Message(
        text=escape(shorten(text, TEXT_LIMIT)),
        blocks=(
            *(plain_section(piece) for piece in _written(text, SECTION_LIMIT)),
            context(mrkdwn(more)),
        ),
    )


def _answer(answer: str, run_id: str) -> tuple[Message, ...]:
    text = show(beginning(answer, _PART_LIMIT * (_PARTS_LIMIT + 1))).text
    parts = _written(text, _PART_LIMIT)
    rest: tuple[Block, ...] = ()
    if len(parts) > _PARTS_LIMIT:
        last = cut(parts[_PARTS_LIMIT - 1], _PART_LIMIT - len(SHORTENED)) + SHORTENED
        parts = [*parts[: _PARTS_LIMIT - 1], last]
        rest = (context(plain(f"All of it, on the command line: pilothouse show {run_id}", 300)),)
    return tuple(
        Message(
            text=escape(shorten(part, TEXT_LIMIT)),
            blocks=(
                *(plain_section(piece) for piece in _written(part, SECTION_LIMIT)),
                *(rest if number == len(parts) else ()),
            ),
        )
        for number, part in enumerate(parts, 1)
    )


def _written(text: str, limit: int) -> list[str]:
    """The pieces of an answer in which anything is written."""
    return [piece for piece in split(text, limit) if piece.strip()]


def _unfinished(mark: str, how: str, state: RunState) -> Message:
    who = name_principal(state.requester)
    words = f"{mark} {who}'s run {how}."
    error = (
        [plain_section(shorten(show(beginning(state.error, 40_000)).text, 1500))]
        if state.error
        else []
    )
    error += remark("Reason", state.stop.reason) if state.stop else []
    text = f"{words} {quoted(state.error, 300)}" if state.error else words
    return Message(
        text=text,
        blocks=(section(words), *error, *_what_was_done(state), context(plain(state.run_id, 200))),
    )


def _what_was_done(state: RunState) -> tuple[Block, ...]:
    """What is certain is said; what is not is said to be so."""
    rows = [row for call in state.own_calls if (row := _row(call, state))]
    more = len(rows) - _CALLS_LIMIT
    if more > 0:
        rows = [*rows[:_CALLS_LIMIT], ("", f"and {more} more")]
    if rows:
        return (lines(rows),)
    # What was only looked up is above, and was done.
    return (section("Nothing was changed." if state.own_calls else "Nothing was done."),)


def _row(call: Call, state: RunState) -> tuple[str, str] | None:
    title = one_line(title_of_call(call, state), 120)
    if (call.effect == "read" and call.title) or call.is_question:
        return None
    match fate_of(call):
        case "done":
            external_id = call.receipt.external_id if call.receipt else None
            return "Done: ", title + (f" ({one_line(external_id, 100)})" if external_id else "")
        case "not_known":
            is_given_up = call.result is not None and call.result.outcome == "given_up"
            how = "nobody could tell" if is_given_up else "it may have happened"
            return "Not known: ", f"{title}: {how}"
        case "not_done":
            return "Not done: ", title
