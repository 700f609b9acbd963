"""How much may come with a person's words: what others said before, and files. What is too much is cut, and says
so: the words themselves are never lost over it."""

from __future__ import annotations

from collections.abc import Iterable

from agent.rules.ids import Principal
from agent.rules.parts import GivenFile, Quoted

#: All that is quoted with one message, in characters: a long thread, and little beside what a model reads at once.
QUOTED_LIMIT = 20_000
#: One of the quoted messages: nobody's hides all others.
ONE_QUOTED_LIMIT = 4_000
#: So many messages are quoted; the newest are the likeliest to be meant.
QUOTED_COUNT = 100
#: All files of one message, in characters: some twenty thousand tokens, paid for with each model request.
FILES_LIMIT = 80_000
#: As many files as a Slack message can have are named; each name, as long as file systems have them.
FILES_COUNT = 10
NAME_LIMIT = 255

#: Who says that something was left out.
BY_CORE = Principal("code:runtime")


def fitting_quotes(quoted: Iterable[Quoted]) -> tuple[Quoted, ...]:
    """The newest of them, oldest first, each of a bounded size; a note in front says how many are left out."""
    given = tuple(one for one in quoted if one.text.strip())
    kept: list[Quoted] = []
    room = QUOTED_LIMIT
    for one in reversed(given[-QUOTED_COUNT:]):
        short = one.model_copy(update={"text": _cut(one.text, ONE_QUOTED_LIMIT)})
        room -= len(short.text)
        if room < 0:
            break
        kept.insert(0, short)
    if left_out := len(given) - len(kept):
        note = Quoted(by=BY_CORE, text=f"[{left_out:,} older messages are left out.]")
        # Where more are left out than are given, that is said already.
        kept.insert(0, given[0] if _is_note(given[0]) else note)
    return tuple(kept)


def _is_note(quote: Quoted) -> bool:
    return quote.by == BY_CORE and quote.ref is None


def fitting_files(files: Iterable[GivenFile]) -> tuple[GivenFile, ...]:
    """All of them by name, and their text as far as there is room; what is cut says so in ``why_not``."""
    given = tuple(files)
    kept: list[GivenFile] = []
    room = FILES_LIMIT
    for one in given[:FILES_COUNT]:
        changes: dict[str, str | None] = {"name": _cut(one.name, NAME_LIMIT)}
        if one.text is not None and len(one.text) > room:
            changes["text"] = one.text[:room] or None
            changes["why_not"] = _why_cut(one, room)
        kept.append(one.model_copy(update=changes))
        room -= len(kept[-1].text or "")
    if more := len(given) - len(kept):
        why_not = f"no more than {FILES_COUNT} files are read"
        kept.append(GivenFile(name=f"{more:,} more", why_not=why_not))
    return tuple(kept)


def _why_cut(file: GivenFile, room: int) -> str:
    if not room:
        return "the files before it are as much text as is read"
    # What came was not all of it already: how long it is nobody here knows.
    whole = f" of its {len(file.text or ''):,}" if file.why_not is None else ""
    return f"only the first {room:,}{whole} characters were read"


def fitting_quote(text: str) -> str:
    """As much of one of them as is quoted."""
    return _cut(text, ONE_QUOTED_LIMIT)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
