"""What a tool is given is what was approved: arguments survive being written down and read again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    Json,
    PlainSerializer,
    Secret,
    SecretBytes,
    SecretStr,
    computed_field,
)

from agent import tool
from agent.errors import ConfigError
from agent.rules.judgement import InvalidCall
from agent.tools.declare import Tool
from agent.tools.writing_down import write_down


class Login(BaseModel):
    user: str = "bob"
    key: SecretStr


@dataclass
class Pair:
    key: SecretStr


class Renamed(BaseModel):
    count: int = Field(alias="how-many")

    @computed_field
    def twice(self) -> int:
        return 2 * self.count


def declared(kind: Any, *default: Any) -> Tool:
    """A tool with one parameter of this kind."""

    def use(given: Any) -> None:
        """Use it."""

    use.__annotations__["given"] = kind
    use.__defaults__ = default or None
    return tool(approval=True)(use)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (SecretStr, "s3cr3t"),
        (SecretStr | None, "s3cr3t"),
        (SecretBytes, "s3cr3t"),
        (list[SecretStr], ["s3cr3t", "other"]),
        (dict[str, SecretStr], {"a": "s3cr3t"}),
        (tuple[int, SecretStr], [1, "s3cr3t"]),
        (Login, {"user": "eve", "key": "s3cr3t"}),
        (list[Login], [{"user": "eve", "key": "s3cr3t"}]),
        (Pair, {"key": "s3cr3t"}),
        (Renamed, {"how-many": 3}),
        (Json[dict[str, int]], '{"a":1}'),
        (set[int], [1, 2]),
        (date | None, "2026-12-01"),
        (timedelta, "PT1H"),
        (Decimal, "1.50"),
        (Literal["a", 2], 2),
        (int | str, "5"),
        (Any, {"a": [None, 1.5]}),
    ],
)
def test_it_is_written_as_it_was_given_and_read_as_the_same(kind: Any, given: Any) -> None:
    using = declared(kind)
    checked = using.check({"given": given})
    written = write_down(checked)
    assert written == {"given": given}
    assert using.check(written) == checked


@pytest.mark.parametrize(
    "kind",
    [
        Secret[int],
        Annotated[int, AfterValidator(lambda number: 2 * number)],
        Annotated[str, PlainSerializer(lambda _: "***")],
        Annotated[str, Field(exclude=True)],
        list[Annotated[str, PlainSerializer(lambda _: "***")]],
    ],
)
def test_a_parameter_that_would_be_another_value_is_refused_when_it_is_declared(kind: Any) -> None:
    with pytest.raises(ConfigError, match="The tool use can't have the parameter given: given"):
        declared(kind)


@pytest.mark.parametrize(("kind", "default"), [(str, None), (int, "x"), (int, 2**60)])
def test_a_default_that_could_not_be_read_again_is_refused(kind: Any, default: Any) -> None:
    with pytest.raises(
        ConfigError, match="The tool use can't have the parameter given: its default"
    ):
        declared(kind, default)


def test_a_default_is_written_as_the_type_that_is_declared() -> None:
    assert write_down(declared(Decimal, 5).check({})) == {"given": "5"}


def test_what_only_the_call_shows_to_be_another_value_is_refused_by_the_call() -> None:
    """No value that is tried at its declaration has the form that its pattern wants."""
    other = AfterValidator(lambda text: text.replace("K-", "K-K-"))
    using = declared(Annotated[str, Field(pattern=r"^K-[0-9K-]+$"), other])
    with pytest.raises(InvalidCall) as error:
        using.check({"given": "K-17"})
    assert error.value.errors == {
        "given": "Written down and read again, it would be another value."
    }


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (int, 10**19, "This number is too large"),
        (int, int("9" * 4000), "too large"),
        (list[int], [1, 2**60], "This number is too large"),
        (float, float("nan"), "This is no number."),
        (bytes, b"\xff", "It can't be written down"),
    ],
)
def test_what_can_not_be_written_down_is_told_at_its_field(
    kind: Any, given: Any, words: str
) -> None:
    with pytest.raises(InvalidCall) as error:
        declared(kind).check({"given": given})
    assert list(error.value.errors) == ["given"]
    assert words in error.value.errors["given"]


def test_a_set_is_written_in_the_same_order_by_every_process() -> None:
    """Else its hash would be another one in the process that carries it out."""
    script = (
        "from tests.agent.tools.test_writing_down import declared, write_down\n"
        "given = [f'item{n}' for n in range(20)]\n"
        "print(write_down(declared(set[str]).check({'given': given})))"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1
