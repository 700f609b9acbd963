"""What a failed request to a model amounts to: to be tried again, or refused, with what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)

from agent.models.providers import PROVIDERS, provider_of
from agent.ports import ContextOverflow, ModelRefused, ModelUnavailable

#: Of a provider's own words.
WORDS_LIMIT = 300
#: What may be another time, though the library has no name for it.
_PASSING = frozenset({408, 409, 425})


def as_ours(error: Exception, model: str) -> ModelUnavailable | ModelRefused:
    """``error``, of a request to ``model``, in the words of the port."""
    if isinstance(error, ModelAPIError):
        return _of_provider(error, model)
    if isinstance(error, ContentFilterError):
        return ModelRefused(
            f"The filter of {model}'s provider lets no answer through ({_words(error, model)})."
            " Put the request otherwise, or take another model."
        )
    if isinstance(error, UserError):
        return ModelRefused(f"{model} can't be asked this: {_words(error, model)}")
    return ModelUnavailable(
        f"The answer of {model} can't be read ({type(error).__name__}: {_words(error, model)})."
    )


def _of_provider(error: ModelAPIError, model: str) -> ModelUnavailable | ModelRefused:
    if (passes := _why_it_passes(error, model)) is not None:
        return ModelUnavailable(passes, error.retry_after)
    said = f"{_status(error)}: {_words(error, model)}"
    match error:
        case ModelContextWindowExceededError():
            return ContextOverflow(
                f"The conversation is longer than {model} can read at once ({said})."
            )
        case ModelQuotaExceededError():
            return ModelRefused(
                f"The account that pays for {model} has used up its quota or credit ({said})."
                " Raise it at the provider, then retry the run."
            )
        case ModelAuthenticationError():
            return ModelRefused(
                f"The provider of {model} does not take {_key(model)} ({said}). Set one that it takes,"
                " start the bots again, then retry the run."
            )
        case ModelNotFoundError():
            return ModelRefused(
                f"The provider knows no model {model}, or is not at this address ({said}). Correct the"
                " name in the configuration, or PILOTHOUSE_MODEL."
            )
        case ModelHTTPError(status_code=413):  # Some measure it in bytes.
            return ContextOverflow(
                f"The conversation is longer than {model} takes at once ({said})."
            )
        case ModelRequestRejectedError() | ModelHTTPError():
            return ModelRefused(f"{model} refuses the request ({said}).")
        case _:
            return ModelUnavailable(
                f"The answer of {model} can't be read ({_words(error, model)}).", error.retry_after
            )


def _why_it_passes(error: ModelAPIError, model: str) -> str | None:
    """In words; None for what would be the same another time."""
    match error:
        case ModelRateLimitError():
            return f"{model} is asked more often than its provider allows ({_status(error)})."
        case ModelOverloadedError():
            return f"{model} is overloaded ({_status(error)})."
        case ModelUnavailableError() | ModelServerError():
            return f"The provider of {model} is in trouble ({_status(error)})."
        case ModelRequestTimeout() | ModelTimeoutError():
            return f"{model} did not answer in time."
        case ModelConnectionError():
            return f"The connection to {model} failed or broke off ({_words(error, model)})."
        case ModelQuotaExceededError() | ModelRequestRejectedError():
            return None
        case ModelHTTPError(status_code=status) if status in _PASSING or status >= 500:
            return f"{model} can't answer now ({_status(error)})."
        case _:
            return None


def _status(error: ModelAPIError) -> str:
    return str(error.status_code) if isinstance(error, ModelHTTPError) else "no status"


def _words(error: Exception, model: str) -> str:
    """The provider's own, if it has any, or the error's."""
    body = error.body if isinstance(error, ModelAPIError) else None
    words = next(_messages(body), None) or str(error)
    for secret in _secrets(model):
        words = words.replace(secret, "…")
    words = " ".join(words.split())
    return words if len(words) <= WORDS_LIMIT else f"{words[:WORDS_LIMIT]}…"


def _messages(body: object) -> Iterator[str]:
    if isinstance(body, Mapping):
        if isinstance(message := body.get("message"), str):
            yield message
        yield from _messages(body.get("error"))


def _secrets(model: str) -> list[str]:
    """Some providers say again what they were given."""
    provider = PROVIDERS[model.partition(":")[0]]
    given = (os.environ.get(variable, "") for variable in {*provider.variables, provider.key})
    return [value for value in given if len(value) >= 8 and "://" not in value]


def _key(model: str) -> str:
    key = provider_of(model).key
    return f"the key in {key}" if key else "the credentials that it is given"
