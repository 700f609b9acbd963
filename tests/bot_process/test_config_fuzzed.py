"""Whatever stands in the file: it is taken, or refused in words that name the file and the line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import ConfigError
from bot.config import load_config
from bot.settings import DEMO_CONFIG
from tests.bot_process.configs import GOOD

FUZZED = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WORDS = (
    *("owners", "agents", "policy", "users", "groups", "helper", "model", "tools", "mcp", "people"),
    *("tool", "when", "action", "reason", "approvers", "count", "requester", "one_from_each"),
    *("card", "notify", "confirm", "expires", "on_expiry", "remind", "escalate", "after", "grants"),
    *("scopes", "longest", "valid_for", "budget", "minutes", "cost_usd", "starts", "trusted"),
)
VALUES = (
    *("ask", "allow", "deny", "demo", "U0BOB", "S0FINANCE", "members", "*", "git.*", "1h", "24h", "-1d"),
    *("args.amount > 100", "tainted", '"S0FINANCE" in requester.groups', "requester.kind == 'x'"),
    *("args.x.matches('(')", "{args.amount}", "{args", "\u0430", "\x00", "\ud7ff", "", "bot.demo.tools"),
    *("9" * 400, "2026-99-99", "1e999", ".nan", "0x", "~"),
)  # fmt: skip


def taken(folder: Path, text: str | bytes) -> str | None:
    """What is said of this file; None: it is taken. Raises whatever else comes of it."""
    file = folder / "pilothouse.yml"
    if isinstance(text, str):
        file.write_text(text, "utf-8", "surrogatepass")
    else:
        file.write_bytes(text)
    try:
        load_config(file)
    except ConfigError as error:
        said = str(error)
        assert said.startswith(str(file))
        assert "Traceback" not in said
        return said.replace(str(file), "")
    return None


leaf = (
    st.sampled_from(VALUES)
    | st.text(max_size=20)
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.none()
    | st.dates()
)
tree = st.recursive(
    leaf,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=6), inner, max_size=5)
    ),
    max_leaves=25,
)


@FUZZED
@given(tree)
def test_any_tree_is_taken_or_refused_in_words(tmp_path: Path, value: Any) -> None:
    said = taken(tmp_path, yaml.safe_dump(value, allow_unicode=True))
    assert said is not None
    assert re.match(r":\d+: | is not text|:", said)


@FUZZED
@given(st.dictionaries(st.sampled_from(WORDS), leaf | tree, max_size=6))
def test_any_rule_is_taken_or_refused_with_its_line(tmp_path: Path, entry: dict[str, Any]) -> None:
    rule = {"tool": "search_policy", "action": "ask", **entry}
    text = GOOD + yaml.safe_dump({"policy": [rule]}, allow_unicode=True)
    said = taken(tmp_path, text)
    assert said is None or re.match(r":\d+: ", said), said


@FUZZED
@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_refused_in_words(tmp_path: Path, data: bytes) -> None:
    assert taken(tmp_path, data) is not None


@FUZZED
@given(st.data())
def test_a_good_file_with_anything_in_it_is_taken_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    good = DEMO_CONFIG.read_text("utf-8")
    start = data.draw(st.integers(0, len(good)))
    end = start + data.draw(st.integers(0, 30))
    put = data.draw(st.sampled_from([*VALUES, "{", "[", "&a", "*a", ":", "- ", "\t", "\n", "'"]))
    said = taken(tmp_path, good[:start] + put + good[end:])
    assert said is None or said.startswith((":", " is not text")), said


ALIASES = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: " + "[" * 50_000, "nested more than"),
        ("a: " + "{a: " * 3_000, "nested more than"),
        ("- " * 3_000 + "x", "nested more than"),
        ("a0: &a0 x\n" + ALIASES, "stands for more than"),
        ("agents: 2026-99-99\n", "1: "),
        ("agents: " + "9" * 5_000 + "\n", "1: "),
        ("agents: !!binary '*'\n", "1: "),
        ("agents: !!python/object:os.system x\n", "1: "),
        ("agents: !!int x\n", "1: "),
        ("? [a]\n: b\n", "1: "),
        ("<<: 1\n", "1: "),
        ("agents: !!timestamp x\n", "1: "),
        ("agents: 1:99999999999999999999:1\n", "1: "),
        ("--- 1\n--- 2\n", "2: "),
    ],
)  # fmt: skip
def test_what_yaml_can_do_to_whoever_reads_it_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in str(taken(tmp_path, text))
