"""Which tools a rule is for, and which names are not what they look like."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.rules.rule import Rule
from agent.rules.tool_globs import is_for


@pytest.mark.parametrize(
    ("glob", "tool", "when_allowing", "otherwise"),
    [
        ("*", "pay", True, True),
        ("*", "git.git_log", True, True),
        ("git.*", "git.git_log", True, True),
        ("git.*", "github.push", False, False),
        ("git.*", "gitx", False, False),
        ("git.git_log", "git.git_log", True, True),
        ("git.git_log", "git.git_logs", False, False),
        # A server may be named so that its tools begin like ours.
        ("search_*", "search_web", True, True),
        ("search_*", "search_web.delete_all", False, True),
        ("*_log", "git.git_log", False, True),
        ("*log*", "login.drop", False, True),
        ("g*_log", "git.x_log", False, True),
        ("*.git_log", "git.git_log", True, True),
        ("git?git_log", "git.git_log", False, True),
        ("git[.]git_log", "git.git_log", False, True),
        ("pay", "Pay", False, False),
    ],
)
def test_what_allows_is_read_narrowly_and_what_does_not_widely(
    glob: str, tool: str, when_allowing: bool, otherwise: bool
) -> None:
    assert is_for(glob, tool, narrowly=True) is when_allowing
    assert is_for(glob, tool, narrowly=False) is otherwise
    assert Rule(tool=glob, action="allow").covers(tool) is when_allowing
    assert Rule(tool=glob, action="deny").covers(tool) is otherwise
    assert Rule(tool=glob, action="ask").covers(tool) is otherwise


@pytest.mark.parametrize(
    ("key", "entry", "said"),
    [
        ("tool", {"tool": "p\u0430y"}, "cyrillic small letter a (U+0430)"),
        ("tool", {"tool": "pay\u200b"}, "zero width space (U+200B)"),
        ("tool", {"tool": "\uff50ay"}, "fullwidth latin small letter p (U+FF50)"),
        ("tool", {"tool": "pay\n"}, "(U+000A)"),
        ("approvers.groups", {"approvers": {"groups": ["\u04050123"]}}, "dze (U+0405)"),
        ("approvers.users", {"approvers": {"users": ["U0123\u041e"]}}, "(U+041E)"),
        ("one_from_each", {"one_from_each": ["S0123", "S0\u0421"]}, "(U+0421)"),
        ("when", {"when": "args.\u0430mount > 1"}, "(U+0430)"),
        ("when", {"when": 'args.order == "\u041eRD-1"'}, "(U+041E) stands among Latin letters"),
        ("when", {"when": 'args.order == "ORD\u202e-1"'}, "(U+202E), which nobody sees"),
    ],
)
def test_what_looks_like_another_character_is_named(
    key: str, entry: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        Rule.model_validate({"tool": "pay", "action": "ask", **entry})
    (error,) = refused.value.errors()
    assert ".".join(map(str, error["loc"])) == key
    assert said in error["msg"]


def test_words_of_another_script_are_what_they_look_like() -> None:
    Rule.model_validate({"tool": "pay", "action": "ask", "when": 'args.to == "Москва Zürich 東京"'})
