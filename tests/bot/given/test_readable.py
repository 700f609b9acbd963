"""Which files are read, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

from agent.rules.given import FILES_COUNT, FILES_LIMIT
from agent.rules.parts import GivenFile
from bot.slack.cards.given import not_read_text, without_words_text
from bot.slack.given.readable import SIZE_LIMIT, text_of, why_not_read
from bot.slack.given.shared import SharedFile, shared_files


def said(name: str, mimetype: str, filetype: str, **more: Any) -> SharedFile:
    return SharedFile.parse(
        {"id": "F1", "name": name, "mimetype": mimetype, "filetype": filetype, **more}
    )


@pytest.mark.parametrize(
    ("name", "mimetype", "filetype"),
    [
        ("orders.csv", "text/csv", "csv"),
        ("notes", "text/plain; charset=utf-8", "text"),
        ("a.JSON", "application/json", "json"),
        ("page.html", "text/html", "html"),
        ("logo.svg", "image/svg+xml", "svg"),
        ("main.rs", "application/octet-stream", "rust"),
        ("Server.LOG", "application/octet-stream", "binary"),
    ],
)
def test_text_is_read_by_any_of_its_names(name: str, mimetype: str, filetype: str) -> None:
    assert why_not_read(said(name, mimetype, filetype, mode="hosted", size=SIZE_LIMIT)) is None


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (said("scan.pdf", "application/pdf", "pdf", mode="hosted"), "only text is read"),
        (said("a.png", "image/png", "png", mode="hosted"), "only text is read"),
        (said("a.rtf", "text/rtf", "rtf", mode="hosted"), "only text is read"),
        (said("Plan", "text/plain", "text", mode="canvas"), "only text is read"),
        (said("a", "application/octet-stream", "binary", mode="hosted"), "only text is read"),
        (said("a.txt", "text/plain", "text", mode="hosted", size=SIZE_LIMIT + 1), "it has 200 KB"),
        (said("a.txt", "text/plain", "text", mode="hosted", size=3_100_000), "it has 3.1 MB"),
        (said("a.txt", "text/plain", "text", mode="external"), "outside of Slack"),
        (said("a.txt", "text/plain", "text", mode="tombstone"), "not there any more"),
        (said("a.txt", "text/plain", "text", mode="hidden_by_limit"), "Slack hides it"),
    ],
)
def test_what_is_not_read_says_why(file: SharedFile, why: str) -> None:
    assert why in str(why_not_read(file))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        ("é\r\n🙂".encode(), "é\r\n🙂"),
        (b"\xef\xbb\xbfa,b", "a,b"),
        (b"\xff\xfea\0", None),
        (b"caf\xe9", None),
        (b"a\0b", None),
        (b"\xed\xa0\x80", None),
    ],
)
def test_text_is_what_is_text_in_utf_8(content: bytes, text: str | None) -> None:
    assert text_of(content) == text


@pytest.mark.parametrize(
    "garbage",
    [None, {}, {"files": None}, {"files": "F1"}, {"files": {"id": "F1"}}],
)
def test_a_message_of_whatever_form_has_no_files(garbage: object) -> None:
    assert shared_files(garbage) == ()


def test_what_is_wrong_in_a_file_counts_as_not_said() -> None:
    wrong = {"id": "../F", "name": 1, "size": True, "mimetype": [], "url_private_download": {}}
    (one, two) = shared_files({"files": [wrong, "F2"]})
    assert one == two == SharedFile(id=None, name="a file without a name")
    assert why_not_read(one) is not None


def test_an_address_that_opens_a_file_is_in_no_repr() -> None:
    url = "https://files.slack.com/files-pri/T1-F1/a.txt?pub_secret=abc"
    file = said("a.txt", "text/plain", "text", url_private=url)
    assert file.url == url
    assert "abc" not in repr(file)


def test_people_are_told_of_each_file_that_the_agent_does_not_see_whole() -> None:
    long = GivenFile(name="b.txt", text="x" * (FILES_LIMIT + 1))
    whole, scan = GivenFile(name="a.txt", text="x"), GivenFile(name="scan.pdf", why_not="it is red")
    assert not_read_text([whole]) == ""
    assert not_read_text([scan, long, whole]).splitlines() == [
        "“scan.pdf” was not read: it is red.",
        "“b.txt” was not read whole: only the first 80,000 of its 80,001 characters were read.",
        "“a.txt” was not read: the files before it are as much text as is read.",
    ]
    many = not_read_text([whole] * (FILES_COUNT + 3))
    assert many == "“3 more” was not read: no more than 10 files are read."


def test_no_file_is_called_by_a_name_that_rings_anybody() -> None:
    name = "<!channel> <@U0BOB>.pdf"
    told = not_read_text([GivenFile(name=name, why_not="it is red")]) + without_words_text([name])
    assert "<" not in told
    assert "these 2 files" in without_words_text([name, name])
