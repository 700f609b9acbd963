"""What a URL of the store may be, and what it says."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from agent.errors import ConfigError
from store.names import why_no_name

SETTING, LISTEN_SETTING = "PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_LISTEN_URL"
_PORTS = range(1, 2**16)
_FORMS = "use sqlite:///PATH or postgresql://USER@HOST/DATABASE"


def parse_urls(url: str, listen_url: str | None) -> tuple[URL, URL]:
    """Of the store, and where it is listened to. Raises ``ConfigError``."""
    parsed = parse_url(url)
    if not listen_url:
        return parsed, parsed
    if parsed.get_backend_name() == "sqlite":
        raise ConfigError(f"A file needs no URL to be listened to: take {LISTEN_SETTING} out.")
    listening_url = parse_url(listen_url, LISTEN_SETTING)
    if listening_url.get_backend_name() != parsed.get_backend_name():
        raise ConfigError(f"{LISTEN_SETTING} has to lead to the server of {SETTING}.")
    return parsed, listening_url


def parse_url(url: str, setting: str = SETTING) -> URL:
    """Raises ``ConfigError``, without a word of what may be a password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # Whatever is wrong with it, their words may hold it.
        raise ConfigError(f"{setting} can't be read; {_FORMS}.") from None
    if parsed.drivername == "postgres":
        parsed = parsed.set(drivername="postgresql")
    if parsed.port is not None and parsed.port not in _PORTS:
        raise ConfigError(f"There is no such port as that of {setting}; {_FORMS}.")
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise ConfigError(f"There is no store on {backend}, which {setting} names; {_FORMS}.")
    if backend == "postgresql" and not (parsed.database or parsed.query.get("database")):
        raise ConfigError(f"{setting} names no database; {_FORMS}.")
    return parsed


def path_of(url: URL) -> Path:
    """Where the file is, whatever folder the process goes to later."""
    if not url.database or url.database == ":memory:" or url.query:
        raise ConfigError(
            f"The store needs a file of its own: {SETTING}=sqlite:///PATH, with nothing behind."
        )
    if why := why_no_name(url.database):
        raise ConfigError(f"The name that {SETTING} gives to a file {why}.")
    return Path(url.database).absolute()
