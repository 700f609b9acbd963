"""Which files are read: text, by what Slack says of them and by what is in them, up to a size."""

from __future__ import annotations

from typing import Final

from bot.slack.given.shared import SharedFile

#: In bytes, of one file: far more than the agent is given of all of them, and nothing to fetch.
SIZE_LIMIT: Final = 200_000
#: In words, as people are told.
_SIZE: Final = "200 KB"

_TEXT_ALONE: Final = f"only text is read, of up to {_SIZE} a file"
NOT_UTF8: Final = "it holds no text in UTF-8"
NO_TIME: Final = "it could not be read in time"
NOT_LET: Final = "Slack does not let the app read it, which takes the scope files:read"
NOT_NOW: Final = "Slack did not hand it out just now"
NOT_WHOLE: Final = "Slack handed out only a part of it"
GONE: Final = "it is not there any more"
_ELSEWHERE: Final = "it lies outside of Slack"
_HIDDEN: Final = "Slack hides it: the workspace has more files than its plan shows"

_WHY_NOT: Final = {
    "external": _ELSEWHERE,
    "remote": _ELSEWHERE,
    "tombstone": GONE,
    "hidden_by_limit": _HIDDEN,
}
#: How Slack has what can be fetched from it as it was shared.
_AS_SHARED: Final = ("", "hosted", "snippet", "email")

#: Slack's types, and the ends of names: where a mimetype says nothing, as for what Slack takes for binary.
_TYPES: Final = """
    adoc bash bat c cfg clojure cmake conf cpp cs csh csharp css csv dart diff dockerfile eml env erlang fish fsharp
    go gql gradle graphql groovy h haskell hcl hpp html http ini ipynb java javascript js json jsonl jsx julia kotlin
    kt latex less lisp log lua m4 make markdown md mjs ndjson nginx objc ocaml org pascal patch perl php pl plist
    powershell properties proto ps1 puppet py python r rb rs rst ruby rust scala scheme scss sh shell sql srt svg
    swift tex text tf tfvars toml ts tsv tsx txt typescript vb vcard verilog vtt xml yaml yml zsh
"""
#: Below ``application/``, where what is no text is, too.
_MIMETYPES: Final = """
    csv ecmascript graphql javascript json json5 ndjson sql toml typescript x-csh x-httpd-php x-javascript x-ndjson
    x-perl x-python x-ruby x-sh x-shellscript x-sql x-toml x-yaml xml yaml
"""
_TEXT_TYPES: Final = frozenset(_TYPES.split())
_TEXT_MIMETYPES: Final = frozenset(f"application/{one}" for one in _MIMETYPES.split())
_TEXT_SUFFIXES: Final = ("+json", "+xml", "+yaml")
#: Markup that nobody writes by hand, and that reads as noise.
_NO_TEXT: Final = ("text/rtf", "text/richtext")


def why_not_read(file: SharedFile) -> str | None:
    """By what is said of it; None: it is to be fetched."""
    if file.mode in _WHY_NOT:
        return _WHY_NOT[file.mode]
    if file.mode not in _AS_SHARED or not _is_text(file):
        return _TEXT_ALONE
    if file.size is not None and file.size > SIZE_LIMIT:
        return too_large(file.size)
    return None


def too_large(size: int | None = None) -> str:
    """``size`` in bytes, where it is known."""
    has = f"it has {_in_words(size)}" if size is not None else "it is too large"
    return f"{has}, and only text of up to {_SIZE} a file is read"


def is_html(file: SharedFile) -> bool:
    """Else a page is an answer of Slack's own, such as one to sign in."""
    return file.mimetype in ("text/html", "application/xhtml+xml") or file.filetype in (
        "html",
        "email",
    )


def text_of(content: bytes) -> str | None:
    """None for what is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _is_text(file: SharedFile) -> bool:
    kind, end = file.mimetype, file.name.lower().rpartition(".")[2]
    if kind in _NO_TEXT:
        return False
    is_said = kind.startswith("text/") or kind in _TEXT_MIMETYPES or kind.endswith(_TEXT_SUFFIXES)
    return is_said or file.filetype in _TEXT_TYPES or end in _TEXT_TYPES


def _in_words(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB" if size >= 1_000_000 else f"{size / 1_000:,.0f} KB"
