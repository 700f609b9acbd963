"""Which words stop, pause, resume or retry, which only come near, and which are something to do."""

from __future__ import annotations

import pytest

from bot.slack.interruptions import hinted_word, near_word, word_alone
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.words import Ask, Intervene, wish_of


@pytest.mark.parametrize(
    "text",
    [
        *(
            "stop",
            "Stop!",
            "STOP!!!",
            "*stop*",
            "_stop_",
            "`stop`",
            "```stop```",
            "“stop”",
        ),
        *("stop.", "stop…", "stop?", ": stop", ", stop", "stop stop stop", "stop 🛑"),
        *(
            "stop :octagonal_sign:",
            "~resume~ stop",
            "please stop",
            "pls stop",
            "stop, please",
            "ok stop",
        ),
        *("stop now", "stop right now", "stop immediately", "stop at once", "stop it", "stop this"),
        *(
            "stop that",
            "Stop the run",
            "stop that run now",
            "stop everything",
            "please stop all of it",
        ),
        "hey, just stop it now, thanks!",
    ],
)
def test_what_says_only_stop_is_stop(text: str) -> None:
    assert (word_alone(text), near_word(text)) == ("stop", None)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(
            ("please pause", "pause"),
            ("Pause everything!", "pause"),
            ("resume it, please", "resume"),
        ),
        *(("Resume the run", "resume"), ("retry please", "retry"), ("Retry!", "retry")),
    ],
)
def test_so_are_the_other_words(text: str, word: str) -> None:
    assert word_alone(text) == word


@pytest.mark.parametrize(
    "text",
    ["Resume?", "this resume? thanks", "my resume", "“resume”", "> resume", "```resume```"],
)
def test_what_lets_something_go_on_must_be_meant_so(text: str) -> None:
    assert (word_alone(text), hinted_word(text)) == (None, "resume")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("> stop", "stop"),
        (">>> stop", "stop"),
        ("> please stop\n> it", "stop"),
        ("> pause", "pause"),
        ("> resume", "resume"),
        ("> retry", None),
        ("> stop\nplease", None),
        ("> stop\nthank you!", None),
    ],
)
def test_what_is_only_quoted_is_nobodys_word(text: str, near: str | None) -> None:
    assert (word_alone(text), near_word(text)) == (None, near)


def test_what_stands_below_a_quotation_is_said() -> None:
    assert word_alone("> Refund an order?\n> $180.00\nstop") == "stop"
    assert near_word("> Refund an order?\ncancel that") == "stop"
    assert hinted_word("> stop") == "stop"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(
            ("cancel", "stop"),
            ("abort!", "stop"),
            ("cancel that", "stop"),
            ("cancel the run", "stop"),
        ),
        *(("🛑", "stop"), (":octagonal_sign: :octagonal_sign:", "stop")),
        *(
            ("hold on", "pause"),
            ("ok hold on a moment", "pause"),
            ("wait…", "pause"),
            ("Wait a sec", "pause"),
        ),
        *(("one moment please", "pause"), ("just a minute", "pause"), ("hold it", "pause")),
        *(("wait wait, hold on", "pause"), ("unpause", "resume"), ("continue", "resume")),
        ("ok go on", "resume"),
    ],
)
def test_what_says_nearly_the_same_is_none_and_names_the_word(text: str, word: str) -> None:
    assert (word_alone(text), near_word(text), hinted_word(text)) == (None, word, word)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(
            ("stop by my desk later", "stop"),
            ("stop the newsletter", "stop"),
            ("can you stop?", "stop"),
        ),
        *(("cancel ORD-7", "stop"), ("stopp", "stop"), ("pasue", "pause"), ("wait, stop", "stop")),
        *(
            ("stop the", "stop"),
            ("stop pause", "stop"),
            ("hold ORD-3 back", "pause"),
            ("stop <@U0BOB>", "stop"),
        ),
    ],
)
def test_few_words_with_one_like_it_among_them_do_nothing_and_may_be_meant_so(
    text: str, word: str
) -> None:
    assert (word_alone(text), near_word(text), hinted_word(text)) == (None, None, word)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "…",
            "please",
            "it",
            "only half",
            "don't stop",
            "Don’t stop it",
            "do not stop",
            "never stop",
        ),
        *(
            "~stop~",
            "the stopwatch is late",
            "hold on, I have to look first",
            "stop the newsletter for ORD-1 and",
        ),
        *("one", "the second one", "one second", "a shop", "step", "90", "stоp"),
    ],
)
def test_everything_else_is_none_of_them(text: str) -> None:
    assert (word_alone(text), near_word(text), hinted_word(text)) == (None, None, None)


@pytest.mark.parametrize(
    ("raw", "is_aside", "stops"),
    [
        *((f"<@U0PILOT>{between}stop", False, True) for between in (" ", ": ", ", ", "\u00a0")),
        *(("stop <@U0PILOT>", False, True), ("<@U0BOB> <@U0PILOT> stop", False, True)),
        *(("*<@U0PILOT> stop*", False, True), ("<!here> please stop <@U0PILOT|p>", False, True)),
        # Bob is to stop something.
        *(("stop <@U0BOB>", True, False), ("<@U0PILOT> stop the newsletter", False, False)),
    ],
)
def test_who_is_named_besides_us_changes_nothing_of_the_word(
    raw: str, is_aside: bool, stops: bool
) -> None:
    actor = Actor("U0ALICE", "T0PILOT")
    message = Message(actor, "T0PILOT", "C0SUPPORT", "2.0", "1.0", raw, False, is_aside)
    wish = wish_of(message, "U0PILOT")
    assert wish == Intervene("stop", None) if stops else isinstance(wish, Ask)
