"""What a model is told of a tool: from its types and its docstring, however that is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

from agent import Money, ToolContext, tool


def google(order: str, amount: int = 1) -> None:
    """Refund an order.

    It goes back to the card.

    Args:
        order: The order's number,
            such as ORD-1.
        amount: How much.

    Returns:
        Nothing.
    """


def numpy(order: str, amount: int = 1) -> None:
    """Refund an order.

    It goes back to the card.

    Parameters
    ----------
    order : str
        The order's number,
        such as ORD-1.
    amount : int, optional
        How much.
    """


def rest(order: str, amount: int = 1) -> None:
    """Refund an order.

    It goes back to the card.

    :param order: The order's number,
        such as ORD-1.
    :param int amount: How much.
    :returns: Nothing.
    """


async def asynchronous(order: str, context: ToolContext, amount: int = 1) -> None:
    """Refund an order.

    It goes back to the card.

    Args:
        order (str): The order's number,
            such as ORD-1.
        context: Not an argument.
        amount (int, optional): How much.
    """


@pytest.mark.parametrize("function", [google, numpy, rest, asynchronous])
def test_every_style_of_docstring_says_the_same(function: Callable[..., Any]) -> None:
    spec = tool(function).spec
    assert spec.description == "Refund an order.\n\nIt goes back to the card."
    properties = spec.parameters["properties"]
    assert {name: one["description"] for name, one in properties.items()} == {
        "order": "The order's number,\nsuch as ORD-1.",
        "amount": "How much.",
    }
    assert properties["amount"]["default"] == 1
    assert spec.parameters["required"] == ["order"]


class Speed(Enum):
    SLOW = "slow"
    FAST = "fast"


class Address(BaseModel):
    """Where something goes."""

    street: str = Field(description="With the house's number.")
    country: Literal["DE", "FR"] = "DE"


class Parcel(TypedDict):
    weight: Annotated[float, Field(gt=0, le=30, description="In kg.")]


@dataclass
class Window:
    begins: datetime
    lasts: timedelta


def ship(
    to: Address,
    parcels: Annotated[list[Parcel], Field(min_length=1, max_length=3)],
    worth: Annotated[Decimal, Field(gt=0), Money("EUR")],
    by: Address | Window | None = None,
    speed: Speed = Speed.SLOW,
    tags: tuple[str, ...] = (),
    extra: dict[str, int] | None = None,
    on: date | None = None,
    reference: UUID | None = None,
) -> None:
    """Ship parcels.

    Args:
        to: Who gets it.
        by: Who takes it, or when.
    """


def test_nested_types_are_described_to_their_leaves() -> None:
    parameters = tool(ship).parameters
    properties, shared = parameters["properties"], parameters["$defs"]
    assert properties["to"] == {"$ref": "#/$defs/Address", "description": "Who gets it."}
    assert shared["Address"]["description"] == "Where something goes."
    assert shared["Address"]["properties"]["street"]["description"] == "With the house's number."
    assert shared["Address"]["properties"]["country"]["enum"] == ["DE", "FR"]
    assert (properties["parcels"]["minItems"], properties["parcels"]["maxItems"]) == (1, 3)
    weight = shared["Parcel"]["properties"]["weight"]
    assert (weight["exclusiveMinimum"], weight["maximum"], weight["description"]) == (
        0,
        30,
        "In kg.",
    )
    assert (properties["worth"]["format"], properties["worth"]["x-currency"]) == ("money", "EUR")
    assert shared["Speed"]["enum"] == ["slow", "fast"]
    assert shared["Window"]["properties"]["begins"]["format"] == "date-time"
    assert [one.get("$ref", one.get("type")) for one in properties["by"]["anyOf"]] == [
        "#/$defs/Address",
        "#/$defs/Window",
        "null",
    ]
    assert parameters["required"] == ["to", "parcels", "worth"]


def test_values_of_every_type_come_to_the_tool_as_what_they_are() -> None:
    declared = tool(ship)
    given: dict[str, JsonValue] = {
        "to": {"street": "Allee 1"},
        "parcels": [{"weight": 2.5}],
        "worth": "19.90",
        "by": {"begins": "2026-12-01T09:00:00Z", "lasts": "PT2H"},
        "speed": "fast",
        "tags": ["a", "b"],
        "extra": {"n": 1},
        "on": "2026-12-02",
        "reference": "12345678-1234-4234-8234-123456789012",
    }
    checked: Any = declared.check(given)
    assert checked.to == Address(street="Allee 1")
    assert checked.worth == Decimal("19.90")
    assert checked.by == Window(datetime(2026, 12, 1, 9, tzinfo=UTC), timedelta(hours=2))
    assert checked.speed is Speed.FAST
    assert (checked.tags, checked.extra, checked.on) == (("a", "b"), {"n": 1}, date(2026, 12, 2))
    assert checked.reference == UUID("12345678-1234-4234-8234-123456789012")
