"""What can't be right about a condition, beside what its grammar says: found when it is loaded. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from agent.rules.condition_text import Literal, code_of, literals
from agent.rules.lookalikes import disguised, odd_character
from agent.rules.requesters import KINDS

#: What a condition may ask of whoever asked for the run.
REQUESTER_KEYS = ("id", "groups", "kind")

_REQUESTER = re.compile(r"(?<![\w.])requester\b(?:\s*\.\s*(?P<key>[A-Za-z_]\w*))?")
_HAS_REQUESTER = re.compile(r"\bhas\s*\(\s*requester\b")
_GROUP = re.compile(r"S[A-Z0-9_]+")
#: A person's id behind a workspace's, as principals have it.
_PRINCIPAL = re.compile(r"slack:|.*:[UW][A-Z0-9]{2,}")
_MATCHES = re.compile(r"(?P<of>\.\s*)?\bmatches\s*\(\s*(?P<pattern>\"\s*\"\s*\))?")
_COMPARED = re.compile(r"\.\s*kind\s*(?:==|!=|in\b)\s*\[?[\s\",]*$")
_COMPARES = re.compile(r"^\s*(?:==|!=)\s*requester\s*\.\s*kind\b")
#: A comparison with a text or a number, which is never so.
_TAINTED = re.compile(
    r"(?<![\w.])tainted\s*(?:==|!=)\s*[\"\d]|[\"\d]\s*(?:==|!=)\s*tainted\b(?!\s*[.(\[])"
)
_GROUPS_ARE = re.compile(r"\.\s*groups\s*(?:==|!=)\s*\"|\"\s*(?:==|!=)\s*requester\s*\.\s*groups\b")
_IN_GROUPS = re.compile(r"^\s*in\s+requester\s*\.\s*groups\b")


def speaks_of(source: str) -> frozenset[str]:
    """Which of ``REQUESTER_KEYS`` it asks for."""
    found = _REQUESTER.finditer(code_of(source))
    return frozenset(match["key"] for match in found if match["key"])


def groups_named(source: str) -> frozenset[str]:
    """The groups that it asks for, by their ids."""
    if "groups" not in speaks_of(source):
        return frozenset()
    return frozenset(one.text for one in literals(source) if _GROUP.fullmatch(one.text))


def patterns(source: str) -> Iterator[Literal]:
    """Those of ``matches``, as they are written."""
    written = {one.start: one for one in literals(source)}
    for match in _MATCHES.finditer(code_of(source)):
        yield written[match.start("pattern")]


def what_is_wrong(source: str) -> str | None:
    """Of a condition whose grammar is right the first thing, as a clause behind it; None: nothing."""
    code = code_of(source)
    return (
        _what_is_no_pattern(code)
        or _what_taint_never_is(code)
        or (_what_no_requester_has(code, source) if "requester" in code else None)
    )


def what_is_disguised(source: str) -> str | None:
    """What passes for something else, as a clause behind the condition; None: nothing."""
    odd = re.search(r"[^\x20-\x7e\s]", code_of(source))
    if odd is not None:
        why = odd_character(odd[0])
        return f"can't be what it looks like: {why}"
    for one in literals(source):
        if why := disguised(one.text):
            return f"can't be what it looks like: {why}"
    return None


def _what_is_no_pattern(code: str) -> str | None:
    """Chosen by a call, it could be as costly as it likes."""
    for match in _MATCHES.finditer(code):
        if match["of"] is None or match["pattern"] is None:
            return 'needs the pattern of matches written out, as in args.name.matches("[a-z]+")'
    return None


def _what_taint_never_is(code: str) -> str | None:
    """The comparison would never hold, and the rule decide nothing."""
    if _TAINTED.search(code):
        return "compares tainted with what it never is; write tainted, or !tainted, alone"
    return None


def _what_no_requester_has(code: str, source: str) -> str | None:
    if _HAS_REQUESTER.search(code):
        return "need not ask whether a requester has something: it fails, and asks, where that is not known"
    for match in _REQUESTER.finditer(code):
        if match["key"] not in REQUESTER_KEYS:
            asked = f"requester.{match['key']}" if match["key"] else "requester itself"
            return f"speaks of {asked}; there are requester.id, requester.groups and requester.kind"
    keys = speaks_of(source)
    return (
        _what_is_no_kind(code, source)
        or _what_is_no_group(code, source, keys)
        or _what_is_no_id(source, keys)
    )


def _what_is_no_kind(code: str, source: str) -> str | None:
    for one in literals(source):
        is_compared = _COMPARED.search(code[: one.start]) or _COMPARES.match(code[one.end :])
        if is_compared and one.text not in KINDS:
            meant = get_close_matches(one.text, KINDS, n=1)
            hint = f" (did you mean {meant[0]}?)" if meant else ""
            return f"speaks of the kind {one.text}{hint}; there are {', '.join(sorted(KINDS))}"
    return None


def _what_is_no_group(code: str, source: str, keys: frozenset[str]) -> str | None:
    if _GROUPS_ARE.search(code):
        return 'compares requester.groups with a text; write "S0123" in requester.groups'
    for one in literals(source):
        if _IN_GROUPS.match(code[one.end :]) and not _GROUP.fullmatch(one.text):
            odd = odd_character(one.text)
            what = odd or "write one such as S0123, not a name"
            return f"takes {one.text!r} for a group's id: {what}"
    if "groups" in keys and not groups_named(source):
        return (
            "speaks of requester.groups and names no group by its id, as in"
            ' "S0123" in requester.groups; only those that it names are looked up'
        )
    return None


def _what_is_no_id(source: str, keys: frozenset[str]) -> str | None:
    if "id" not in keys:
        return None
    for one in literals(source):
        if _PRINCIPAL.match(one.text):
            plain = one.text.rpartition(":")[2] or "U0123"
            return f"takes {one.text!r} for a requester's id; in Slack that is the user's alone, such as {plain!r}"
    return None
