"""A letter that was put among others because it looks like one of them is named."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bot.slack.cards.arguments import describe_arguments, notes
from bot.slack.cards.card import card_of
from bot.slack.cards.mixed import mixed_words
from tests.agent.rules.histories import asked, begun, judged, replied
from tests.bot.cards.checking import shown


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("send it to pаypal.example", "pаypal (а is CYRILLIC SMALL LETTER A)"),
        ("Οrder", "Οrder (Ο is GREEK CAPITAL LETTER OMICRON)"),
        ("аррӏe", "аррӏe (e is LATIN SMALL LETTER E)"),
        ("а\u0301pple", "а\u0301pple (а is CYRILLIC SMALL LETTER A)"),
        ("а1pple", "а1pple (а is CYRILLIC SMALL LETTER A)"),
        ("ｐay", "ｐay (ｐ is FULLWIDTH LATIN SMALL LETTER P)"),
        ("\u212aevin", "\u212aevin (\u212a is KELVIN SIGN)"),
        ("paypa\u217c", "paypa\u217c (\u217c is SMALL ROMAN NUMERAL FIFTY)"),
        ("3З00", "3З00 (З is CYRILLIC CAPITAL LETTER ZE)"),
        ("order 1О0", "1О0 (О is CYRILLIC CAPITAL LETTER O)"),
        ("1Ο0", "1Ο0 (Ο is GREEK CAPITAL LETTER OMICRON)"),
        ("𝗉ay", "𝗉ay (𝗉 is MATHEMATICAL SANS-SERIF SMALL P)"),
    ],
)
def test_a_mixed_word_is_found_and_its_odd_letters_are_named(text: str, odd: str) -> None:
    assert mixed_words(text, 3) == [odd]


@pytest.mark.parametrize(
    "text",
    [
        "plain words, naïve café, Straße, 180 €",
        "Привет world",
        "user-имя и user.имя",
        "5кг, 2024г, 3Д, 5ч, О, 1O0",
        "Tシャツ 株式会社ABC 한국어로",
        "5 µs or μs, 3 kΩ, 20 °C, Δt",
        "Ελλάδα Հայաստան",
        "",
    ],
)
def test_what_people_write_is_let_alone(text: str) -> None:
    assert mixed_words(text, 3) == []


def test_few_words_are_named_each_once_and_none_at_length() -> None:
    text = "аa аa аb аc аd " + "аz" * 1_000
    assert [one.partition(" ")[0] for one in mixed_words(text, 3)] == ["аa", "аb", "аc"]
    (long,) = mixed_words("бвгдж" + "z" * 1_000, 3)
    assert len(long) < 200


@pytest.mark.parametrize("preview", [None, "refund to pаypal"])
def test_a_card_warns_of_what_is_mixed_in_arguments_and_preview(preview: str | None) -> None:
    args = {"account": "paypal" if preview else "pаypal"}
    said = shown(notes(describe_arguments(args, {}), preview))
    assert "several alphabets" in said
    assert "а is CYRILLIC SMALL LETTER A" in said


def test_where_blocks_are_refused_the_words_warn_all_the_same() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask"))
    args: dict[str, JsonValue] = {"account": "pаypal", "memo": "a\u202eb"}
    state = history.then(asked(1, args={}).model_copy(update={"args": args})).state
    (approval,) = state.approvals.values()
    said = card_of(approval, state).without_blocks
    assert "а is CYRILLIC SMALL LETTER A" in said
    assert "Hidden characters" in said
    assert "`approve apr_1`" in said


def test_a_card_without_any_does_not_warn() -> None:
    assert list(notes(describe_arguments({"account": "paypal"}, {}), "refund")) == []
