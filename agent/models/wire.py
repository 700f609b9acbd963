"""Asking a model over its provider's wire. Imports the model library."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any, cast

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from agent.errors import ConfigError
from agent.models.failures import as_ours
from agent.models.prices import price_of
from agent.models.replies import as_reply
from agent.models.requests import messages_of, parameters_of
from agent.ports import ModelRefused, ModelReply, ModelRequest, ModelUnavailable


class Wire:
    """One model of one provider. Raises ``ConfigError`` where it can't be made."""

    def __init__(self, name: str, timeout: timedelta) -> None:
        self._name = name
        try:
            self._model = infer_model(name, _provider)
        except (UserError, ImportError, ValueError) as error:
            raise ConfigError(f"The model {name} can't be used: {error}") from error
        self._settings = _settings(self._model, timeout)

    def has_price(self) -> bool:
        """Is it known what its replies cost?"""
        model = self._model
        return price_of(ModelResponse([], **_ONE_TOKEN, **_whose(model))) is not None

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One attempt. Raises ``ModelUnavailable``, ``ModelRefused``, ``ContextOverflow``."""
        model = self._model
        parameters = parameters_of(request)
        try:
            messages = model.prepare_messages(messages_of(request, self._name), parameters)
            async with model:  # Its connections end with the last request that is under way.
                response = await model_request(
                    model,
                    messages,
                    model_settings=self._settings,
                    model_request_parameters=parameters,
                )
            return as_reply(response, request, self._name)
        except (ModelUnavailable, ModelRefused):
            raise
        except Exception as error:
            # Foreign code: the library lets some of what it stumbles over through as it is.
            raise as_ours(error, self._name) from error


_ONE_TOKEN: dict[str, Any] = {"usage": RequestUsage(input_tokens=1, output_tokens=1)}


def _whose(model: Model) -> dict[str, Any]:
    return {
        "model_name": model.model_name,
        "provider_name": model.system,
        "provider_url": model.base_url,
    }


def _settings(model: Model, timeout: timedelta) -> ModelSettings:
    """Attempts are ours to count and to write down, so that the clients make one."""
    settings = ModelSettings(request_timeout=timeout.total_seconds())
    if "max_retries" not in model.unsupported_settings:
        settings["max_retries"] = 0
    if type(model).__name__ == "OpenAIResponsesModel":
        # What is to be had back comes with the reply: nothing of a run is kept there, nor may it be gone by then.
        settings = cast(ModelSettings, {**settings, "openai_store": False})
    return settings


def _provider(name: str) -> Provider[Any]:
    return _bedrock() if name == "bedrock" else infer_provider(name)


def _bedrock() -> Provider[Any]:
    """As the library makes it, but for the attempts that its client would make by itself."""
    from pydantic_ai.providers.bedrock import BedrockProvider

    config = import_module("botocore.config").Config(
        read_timeout=300, connect_timeout=60, retries={"total_max_attempts": 1}
    )
    try:
        client = import_module("boto3").Session().client("bedrock-runtime", config=config)
    except import_module("botocore.exceptions").NoRegionError as error:
        raise UserError("set AWS_DEFAULT_REGION.") from error
    return BedrockProvider(bedrock_client=client)
