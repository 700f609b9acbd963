"""Models by their names, and whether they can be asked here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from agent.engine.agents import Agent
from agent.errors import ConfigError
from agent.models.library import LibraryModel
from agent.models.providers import PROVIDERS
from agent.ports import Model

DEMO = "demo"
#: What the providers' clients read from the environment themselves, beside their keys and addresses.
_FIRST_WORDS = frozenset(
    variable.partition("_")[0]
    for provider in PROVIDERS.values()
    for variable in (*provider.variables, provider.key)
    if variable
) | {"AWS"}


def model_named(name: str) -> Model:
    """``demo``, or ``PROVIDER:MODEL``. Raises ``ConfigError``."""
    if name == DEMO:
        from bot.demo.model import DemoModel

        return DemoModel()
    return LibraryModel(name)


def check_model(name: str) -> None:
    """Raises ``ConfigError`` where it is named wrongly, or can't be asked by this process."""
    model = model_named(name)
    if isinstance(model, LibraryModel):
        model.check()


def check_models(agents: Iterable[Agent]) -> None:
    """Whoever works runs can ask every model, and hold each budget of costs. Takes seconds where there are any but
    the demo's. Raises ``ConfigError``."""
    for agent in agents:
        model = agent.model
        if not isinstance(model, LibraryModel):
            continue
        try:
            model.check()
        except ConfigError as error:
            raise ConfigError(f"The agent {agent.name}: {error}") from error
        if agent.budget and agent.budget.cost_usd is not None and not model.has_price():
            raise ConfigError(
                f"The agent {agent.name}: budget.cost_usd can't be kept, for nobody knows what {model.name}"
                " costs. Limit tokens or model_calls instead."
            )


def hand_on(written: Mapping[str, str | None]) -> None:
    """Of a ``.env`` file what is for the providers' clients: they read the environment alone."""
    for name, value in written.items():
        if value and name.partition("_")[0] in _FIRST_WORDS:
            os.environ.setdefault(name, value)
