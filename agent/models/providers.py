"""Which model providers there are, and what it takes to ask one: known without importing anything of theirs."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from agent.errors import ConfigError
from agent.ports import Lack

#: The library behind all of them.
LIBRARY = "pydantic_ai"
#: The extras of this package. Those of the library that are not among them it has itself.
EXTRAS = ("openai", "anthropic", "google", "bedrock")


@dataclass(frozen=True, slots=True)
class Provider:
    """One kind of provider, by the library's name for it."""

    extra: str
    #: What the extra installs, and the library imports.
    module: str
    #: One of these settings has to be there; empty where the provider finds its credentials in other ways.
    variables: tuple[str, ...] = ()
    #: The one of them that holds the secret, for whoever is told that it is not taken.
    key: str = ""


def _like_openai(*variables: str) -> Provider:
    return Provider("openai", "openai", variables, variables[0] if variables else "")


def _of(extra: str, module: str, *variables: str) -> Provider:
    return Provider(extra, module, variables, variables[0] if variables else "")


#: An address of one's own needs no key: many that speak OpenAI's wire take none.
_OPENAI = _like_openai("OPENAI_API_KEY", "OPENAI_BASE_URL")

PROVIDERS: Mapping[str, Provider] = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": _of("anthropic", "anthropic", "ANTHROPIC_API_KEY"),
    "google": _of("google", "google.genai", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "google-cloud": _of("google", "google.genai"),
    "bedrock": _of("bedrock", "boto3"),
    "ollama": Provider("openai", "openai", ("OLLAMA_BASE_URL",), "OLLAMA_API_KEY"),
    "vllm": Provider("openai", "openai", ("VLLM_BASE_URL",), "VLLM_API_KEY"),
    "alibaba": _like_openai("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "azure": _like_openai("AZURE_OPENAI_API_KEY"),
    "azure-responses": _like_openai("AZURE_OPENAI_API_KEY"),
    "cerebras": _like_openai("CEREBRAS_API_KEY"),
    "deepseek": _like_openai("DEEPSEEK_API_KEY"),
    "fireworks": _like_openai("FIREWORKS_API_KEY"),
    "github": _like_openai("GITHUB_API_KEY"),
    "heroku": _like_openai("HEROKU_INFERENCE_KEY"),
    "litellm": _like_openai(),
    "meta": _like_openai("META_API_KEY"),
    "moonshotai": _like_openai("MOONSHOTAI_API_KEY"),
    "nebius": _like_openai("NEBIUS_API_KEY"),
    "openrouter": _like_openai("OPENROUTER_API_KEY"),
    "ovhcloud": _like_openai("OVHCLOUD_API_KEY"),
    "sambanova": _like_openai("SAMBANOVA_API_KEY"),
    "together": _like_openai("TOGETHER_API_KEY"),
    "vercel": _like_openai("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
    "zai": _like_openai("ZAI_API_KEY"),
    "cohere": _of("cohere", "cohere", "CO_API_KEY"),
    "groq": _of("groq", "groq", "GROQ_API_KEY"),
    "huggingface": _of("huggingface", "huggingface_hub", "HF_TOKEN"),
    "mistral": _of("mistral", "mistralai", "MISTRAL_API_KEY"),
    "xai": _of("xai", "xai_sdk", "XAI_API_KEY"),
}


def provider_of(name: str) -> Provider:
    """The provider of a model that is named ``PROVIDER:MODEL``. Raises ``ConfigError``."""
    prefix, colon, model = name.partition(":")
    if not colon or not model.strip():
        raise ConfigError(
            f"{name} is no model: say demo, or PROVIDER:MODEL, for example {_EXAMPLE}."
        )
    known = PROVIDERS.get(prefix)
    if known is None:
        near = difflib.get_close_matches(prefix, PROVIDERS, n=1)
        hint = f"did you mean {near[0]}:{model}?" if near else f"there are {', '.join(PROVIDERS)}."
        raise ConfigError(f"{name} names no provider that is known here; {hint}")
    return known


_EXAMPLE = "anthropic:claude-sonnet-5-5"


def lack_of(name: str) -> Lack | None:
    """What is missing in this process to ask that model, as far as can be told without asking anybody."""
    provider = provider_of(name)
    if not (_is_there(LIBRARY) and _is_there(provider.module)):
        return Lack(f"The model {name} needs packages that are not installed.", _install(provider))
    wanted = provider.variables
    if wanted and not any(os.environ.get(variable) for variable in wanted):
        instead = f" (or {' or '.join(wanted[1:])})" if wanted[1:] else ""
        return Lack(
            f"The model {name} needs {wanted[0]}{instead}, which is not set.",
            "Set it in the environment or in .env, and start again.",
        )
    return None


def _install(provider: Provider) -> str:
    if provider.extra not in EXTRAS:
        return f'Install them: pip install "pydantic-ai-slim[{provider.extra}]".'
    by_pip = f'pip install "pilothouse[{provider.extra}]"'
    return f"Install them: make extra EXTRA={provider.extra}, or {by_pip}."


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # Not even what it stands in.
        return False
