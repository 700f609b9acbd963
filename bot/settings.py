"""Settings: the environment, or a ``.env`` file in the current folder or beside the configuration.

A name that begins with ``PILOTHOUSE_`` and means nothing stops the start, and so does one that only
later versions know: what was asked for must not silently be missing.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent.errors import ConfigError
from bot.models import hand_on

PREFIX = "PILOTHOUSE_"
SLACK_API = "https://slack.com/api/"
DEMO_CONFIG = Path(__file__).parent / "demo" / "pilothouse.yml"

#: Names that the manual has and this version does not carry out.
LATER = frozenset(
    {
        "PILOTHOUSE_API_TOKENS",
    }
)

Transport = Literal["socket", "http"]
Seconds = Annotated[float, Field(le=86_400, allow_inf_nan=False)]


class Settings(BaseSettings):
    """What the operator set. Its ``repr`` shows no secret."""

    model_config = SettingsConfigDict(
        case_sensitive=True, env_ignore_empty=True, extra="ignore", frozen=True
    )

    slack_bot_token: SecretStr | None = Field(None, validation_alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(None, validation_alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(None, validation_alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(SLACK_API, validation_alias="SLACK_API_URL")
    data: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("pilothouse", appauthor=False),
        validation_alias="PILOTHOUSE_DATA",
    )
    #: May hold a password.
    database_url: SecretStr | None = Field(None, validation_alias="PILOTHOUSE_DATABASE_URL")
    #: The same database past a pooler, for what needs a connection of its own.
    listen_url: SecretStr | None = Field(None, validation_alias="PILOTHOUSE_LISTEN_URL")
    #: What facts are kept with at rest: ``store.keys`` has their form.
    encryption_keys: SecretStr | None = Field(None, validation_alias="PILOTHOUSE_ENCRYPTION_KEYS")
    audit_key: SecretStr | None = Field(None, validation_alias="PILOTHOUSE_AUDIT_KEY")
    config: Path = Field(DEMO_CONFIG, validation_alias="PILOTHOUSE_CONFIG")
    model: str | None = Field(None, validation_alias="PILOTHOUSE_MODEL")
    http_host: str = Field("127.0.0.1", validation_alias="PILOTHOUSE_HTTP_HOST")
    http_port: int = Field(3000, ge=0, le=65_535, validation_alias="PILOTHOUSE_HTTP_PORT")
    concurrency: int = Field(50, ge=1, le=10_000, validation_alias="PILOTHOUSE_CONCURRENCY")
    lease_seconds: Seconds = Field(30, ge=1, validation_alias="PILOTHOUSE_LEASE_SECONDS")
    drain_seconds: Seconds = Field(60, ge=0, validation_alias="PILOTHOUSE_DRAIN_SECONDS")

    @field_validator("data", "config")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.expanduser().absolute()

    @field_validator("slack_bot_token", "slack_app_token")
    @classmethod
    def _is_the_right_token(cls, token: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        """The two are mixed up easily, and copied with an ellipsis; Slack would only say no."""
        if token is None:
            return None
        text, is_bot = token.get_secret_value(), info.field_name == "slack_bot_token"
        if not (text.isascii() and text.isprintable()) or " " in text:
            raise ValueError("it has a character that no token has")
        if text.startswith("xapp-" if is_bot else "xoxb-"):
            other = "SLACK_APP_TOKEN" if is_bot else "SLACK_BOT_TOKEN"
            raise ValueError(f"this is what belongs into {other}")
        return token

    @field_validator("slack_api_url")
    @classmethod
    def _is_base(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            raise ValueError("it must begin with http:// or https://")
        return url if url.endswith("/") else f"{url}/"

    @property
    def store_url(self) -> str:
        """Where the store is; may hold a password."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data / 'pilothouse.db'}"

    @property
    def listening_url(self) -> str | None:
        """Where the store says what has moved, if that is elsewhere; may hold a password."""
        return None if self.listen_url is None else self.listen_url.get_secret_value()

    @property
    def transport(self) -> Transport | None:
        """How Slack reaches this process; None when nothing of Slack is set."""
        if self.slack_app_token is not None:
            return "socket"
        return "http" if self.slack_signing_secret is not None else None

    @property
    def term(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def drain(self) -> timedelta:
        return timedelta(seconds=self.drain_seconds)


def load_settings(*, reads_files: bool = True) -> Settings:
    """The settings of this process. Raises ``ConfigError`` with one line that names the wrong one."""
    files = _env_files() if reads_files else ()
    _refuse_unknown(os.environ)
    for file in files:
        _refuse_unknown(dotenv_values(file), file)
    for file in reversed(files):
        hand_on(dotenv_values(file))
    try:
        return Settings(_env_file=files)
    except ValidationError as error:
        # The value itself is not shown: it may be a secret.
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        words = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"The setting {name} is wrong: {words}.") from None


def environment() -> dict[str, str]:
    """All variables that this process was given, by ``.env`` too; what nobody names is handed on to nobody."""
    written = [dotenv_values(file) for file in _env_files()]
    found = {name: value for file in written for name, value in file.items() if value}
    return {**found, **os.environ}


def data_folder() -> Path:
    """Where this installation keeps its files. Raises ``ConfigError``."""
    return load_settings().data


def demo_folder(settings: Settings) -> Path:
    """Where the demo keeps its files: the data folder if one is named, else one of its own in the
    user's, for each configuration: what waits with one can't go on with another."""
    if "data" in settings.model_fields_set:
        return settings.data
    if settings.config == DEMO_CONFIG:
        return settings.data / "demo"
    which = hashlib.sha256(os.fsencode(settings.config)).hexdigest()[:8]
    return settings.data / f"demo-{settings.config.parent.name}-{which}"


def _env_files() -> tuple[Path, ...]:
    """The ``.env`` files that are there; what stands in a later one wins."""
    here = Path.cwd() / ".env"
    named = os.environ.get("PILOTHOUSE_CONFIG") or dotenv_values(here).get("PILOTHOUSE_CONFIG")
    beside = Path(named).expanduser().absolute().parent / ".env" if named else here
    return tuple(file for file in dict.fromkeys((beside, here)) if file.is_file())


def _refuse_unknown(names: Iterable[str], file: Path | None = None) -> None:
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    where = f" (in {file})" if file else ""
    for name in sorted(names):
        if not name.upper().startswith(PREFIX) or name in known:
            continue
        if name in LATER:
            raise ConfigError(f"The setting {name}{where} is not in this version: take it out.")
        ours = [one.removeprefix(PREFIX) for one in known if one.startswith(PREFIX)]
        near = difflib.get_close_matches(name.upper().removeprefix(PREFIX), ours, n=1)
        hint = f"; did you mean {PREFIX}{near[0]}?" if near else "."
        raise ConfigError(f"There is no setting {name}{where}{hint}")
