"""Foreign text: cut without harm, hidden characters visible, secrets masked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.secrets import MASK
from bot.slack.cards.hidden import reveal
from bot.slack.cards.masking import mask
from bot.slack.cards.text import SHORTENED, escape, measure, shorten, show, split
from tests.bot.cards.checking import length


@given(st.text(max_size=400), st.integers(40, 120))
def test_splitting_loses_nothing_and_each_piece_fits(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert "".join(pieces) == text
    assert all(0 < measure(piece) <= limit for piece in pieces)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400), st.integers(40, 120))
def test_what_is_measured_is_never_less_than_what_slack_could_count(text: str, limit: int) -> None:
    assert measure(text) == length(text)
    short = shorten(text, limit)
    assert length(short) <= limit
    assert short == text or short.endswith(SHORTENED)


def test_a_cut_does_not_split_what_is_seen_as_one_character() -> None:
    family, accented = "👨‍👩‍👧", "e\u0301"
    assert all(set(piece.split(family)) == {""} for piece in split(family * 30, 50))
    assert all(not piece.startswith("\u0301") for piece in split(accented * 60, 45))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("rm\u200b -rf", "rm⟦U+200B⟧ -rf"),
        ("a\u2060b\ufeffc\u00add", "a⟦U+2060⟧b⟦U+FEFF⟧c⟦U+00AD⟧d"),
        ("\u202etxt.exe", "⟦U+202E⟧txt.exe"),
        ("x\U000e0041\U000e0042", "x⟦U+E0041⟧⟦U+E0042⟧"),
        ("a\u2028b\u2029c", "a⟦U+2028⟧b⟦U+2029⟧c"),
        ("a\rb\x1b[31m", "a⟦U+000D⟧b⟦U+001B⟧[31m"),
        ("ls\u2003-la", "ls⟦U+2003⟧-la"),
        ("a\u3164b", "a⟦U+3164⟧b"),
        ("a\u200db", "a⟦U+200D⟧b"),
        ("\ud800", "⟦U+D800⟧"),
        ("🏴\U000e0041\U000e007f", "🏴⟦U+E0041⟧⟦U+E007F⟧"),
    ],
)
def test_hidden_characters_are_made_visible(text: str, seen: str) -> None:
    assert reveal(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "line\n\ttabbed",
        "👩‍💻 👨‍👩‍👧‍👦 ❤️‍🔥 👩🏽‍🚀 ☺️",
        "می‌خواهم",
        "क्‍ष",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "Grüße, 日本語、naïve 1\u00a0000 €",
    ],
)
def test_what_people_write_stays_readable(text: str) -> None:
    assert reveal(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -H 'Authorization: Bearer abc123def456' https://x", "abc123def456"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("use bearer abcdef123456", "abcdef123456"),
        ("postgresql://app:hunter2@db/x", "hunter2"),
        ('{"headers":{"Authorization":"Bearer s3cr3ts3cr3t"}}', "s3cr3ts3cr3t"),
        ("cat > .env <<E\nAPI_TOKEN=t0ps3cret\nexport DB_PASSWORD='pa ss'\nE", "t0ps3cret"),
        ("export DB_PASSWORD='pa ss'", "pa ss"),
        ('{"password":"correct horse"}', "correct horse"),
        (r'"{\"password\": \"correct horse\"}"', "correct horse"),
        ("https://x/?a=1&api_key=k3yk3y&b=2", "k3yk3y"),
        ("https://x/?sig=abc%2Fdef", "abc%2Fdef"),
        ("xoxb-1234-5678-abcdef", "1234-5678-abcdef"),
        ("sk-proj-abcdefghijklmnop", "abcdefghijklmnop"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
        ("ghp_abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\nAbC+/=\n-----END PRIVATE KEY-----", "MIIEvQ"),
        (r'"-----BEGIN EC PRIVATE KEY-----\nMIIEvQ\n-----END EC PRIVATE KEY-----"', "MIIEvQ"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh", "eyJzdWIiOiIxIn0"),
    ],
)
def test_known_secrets_are_masked(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "refund ORD-3300 180",
        "max_tokens: 400",
        "https://example.com/a:b/c@d",
        "the secretary asked for a password reset",
        "a task-force of risk-takers",
    ],
)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert mask(text) == text


def test_a_mask_ends_before_a_command_that_follows_the_secret() -> None:
    assert "rm -rf /" in mask("TOKEN=abc; rm -rf /")
    assert "| sh" in mask("curl -H 'Authorization: Bearer abcdefgh1234' https://x | sh")


def test_masking_long_text_takes_no_longer_than_its_length() -> None:
    """Would run for minutes if a pattern were quadratic."""
    for part in ("a", "token", "://a", "-----BEGIN ", "authorization:", "eyJaaaaaaaaaaa."):
        mask(part * (200_000 // len(part)))


def test_nothing_is_shown_as_nothing() -> None:
    assert show("").text == '""'
    assert show(" \n").text == '" \\n"'


def test_escaped_text_can_hold_no_token() -> None:
    assert escape("<!channel> & <@U1>") == "&lt;!channel&gt; &amp; &lt;@U1&gt;"
