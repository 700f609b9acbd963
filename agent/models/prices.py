"""What a reply used, and what that costs by the prices that the library knows."""

from __future__ import annotations

from decimal import Decimal

from pydantic_ai.messages import ModelResponse

from agent.rules.parts import Usage


def usage_of(response: ModelResponse) -> Usage:
    """What it used, with its price as of now: prices change, and what a run cost does not."""
    cost = price_of(response)
    return Usage(
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cost_usd=cost or Decimal(0),
        is_priced=cost is not None,
    )


def price_of(response: ModelResponse) -> Decimal | None:
    """None where nobody knows: of a model that has no known price, or a reply that does not say what it used."""
    if not response.model_name:
        return None
    try:
        return response.cost().total_price
    except (LookupError, ValueError):
        return None
