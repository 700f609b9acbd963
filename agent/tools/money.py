"""Money as a type: ``Annotated[Decimal, Money("USD")]``."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from babel.numbers import get_currency_precision
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in a currency (ISO 4217), with no more digits than the currency has, and as many when a tool gets it.

    Limits stand before it: ``Annotated[Decimal, Field(gt=0), Money("USD")]``.
    """

    currency: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            self._check,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _to_json, when_used="json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        declared = handler(schema)
        number = next((b for b in declared.get("anyOf", ()) if b.get("type") == "number"), declared)
        return {
            "type": "number",
            "format": "money",
            "x-currency": self.currency,
            **{name: number[name] for name in _LIMITS if name in number},
        }

    def _check(self, amount: Decimal) -> Decimal:
        digits = get_currency_precision(self.currency)
        exponent = amount.normalize().as_tuple().exponent
        if isinstance(exponent, int) and -exponent > digits:
            raise PydanticCustomError(
                "money_digits",
                "{currency} has no more than {digits} digits after the point.",
                {"currency": self.currency, "digits": digits},
            )
        try:
            return amount.quantize(Decimal(1).scaleb(-digits))
        except InvalidOperation:  # Infinite, or of more digits than can be told apart.
            return amount


def _to_json(amount: Decimal) -> float | str:
    """A JSON number where it says exactly this amount, else its digits."""
    number = float(amount)
    return number if Decimal(repr(number)) == amount else str(amount)
