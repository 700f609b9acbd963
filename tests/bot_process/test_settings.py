"""Each setting that can't be carried out stops the start with one line that names it."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import platformdirs
import pytest

from agent.errors import ConfigError
from bot.demo.shop import Shop
from bot.demo.tools import shop
from bot.settings import demo_folder, load_settings


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and nothing of ours in the environment."""
    for name in os.environ:
        if name.upper().startswith(("PILOTHOUSE_", "SLACK_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_defaults_are_those_of_the_manual() -> None:
    settings = load_settings()
    assert settings.concurrency == 50
    assert settings.term == timedelta(seconds=30)
    assert settings.drain == timedelta(seconds=60)
    assert (settings.http_host, settings.http_port) == ("127.0.0.1", 3000)
    assert settings.slack_api_url == "https://slack.com/api/"
    assert settings.store_url == f"sqlite:///{settings.data / 'pilothouse.db'}"
    assert settings.config.name == "pilothouse.yml"
    assert settings.transport is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PILOTHOUSE_DATABSE_URL", "x", "no setting PILOTHOUSE_DATABSE_URL; did you mean"),
        ("PILOTHOUSE_XYZZY", "x", "no setting PILOTHOUSE_XYZZY."),
        ("pilothouse_data", "x", "no setting pilothouse_data; did you mean PILOTHOUSE_DATA?"),
        ("PILOTHOUSE_API_TOKENS", "a:b", "PILOTHOUSE_API_TOKENS is not in this version"),
        ("PILOTHOUSE_HTTP_PORT", "http", "PILOTHOUSE_HTTP_PORT is wrong"),
        ("PILOTHOUSE_HTTP_PORT", "65536", "PILOTHOUSE_HTTP_PORT is wrong"),
        ("PILOTHOUSE_CONCURRENCY", "0", "PILOTHOUSE_CONCURRENCY is wrong"),
        ("PILOTHOUSE_LEASE_SECONDS", "0", "PILOTHOUSE_LEASE_SECONDS is wrong"),
        ("PILOTHOUSE_LEASE_SECONDS", "nan", "PILOTHOUSE_LEASE_SECONDS is wrong"),
        ("PILOTHOUSE_DRAIN_SECONDS", "-1", "PILOTHOUSE_DRAIN_SECONDS is wrong"),
        ("SLACK_API_URL", "slack.com", "SLACK_API_URL is wrong: it must begin"),
        ("SLACK_BOT_TOKEN", "xapp-1", "belongs into SLACK_APP_TOKEN"),
        ("SLACK_APP_TOKEN", "xoxb-1", "belongs into SLACK_BOT_TOKEN"),
        ("SLACK_BOT_TOKEN", "xoxb-…", "SLACK_BOT_TOKEN is wrong: it has a character"),
    ],
)
def test_a_setting_that_cannot_be_carried_out_is_named(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as refused:
        load_settings()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_wrong_value_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTHOUSE_HTTP_PORT", "xoxb-pasted-here")
    with pytest.raises(ConfigError) as refused:
        load_settings()
    assert "xoxb" not in str(refused.value)


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-hunter2")
    monkeypatch.setenv("PILOTHOUSE_DATABASE_URL", "sqlite:///hunter2.db")
    monkeypatch.setenv("PILOTHOUSE_LISTEN_URL", "postgresql://u:hunter2@h/d")
    assert "hunter2" not in repr(load_settings())


def test_a_dotenv_file_is_read_from_the_current_folder(here: Path) -> None:
    (here / ".env").write_text("PILOTHOUSE_CONCURRENCY=7\nOTHER_PROGRAM=x\nSLACK_APP_TOKEN=xapp\n")
    settings = load_settings()
    assert settings.concurrency == 7
    assert settings.transport == "socket"


def test_a_dotenv_file_beside_the_configuration_is_read(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "conf").mkdir()
    (here / "conf" / ".env").write_text("PILOTHOUSE_CONCURRENCY=8\n")
    monkeypatch.setenv("PILOTHOUSE_CONFIG", "conf/pilothouse.yml")
    settings = load_settings()
    assert settings.concurrency == 8
    assert settings.config == here / "conf" / "pilothouse.yml"


def test_the_environment_wins_over_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / ".env").write_text("PILOTHOUSE_CONCURRENCY=7\n")
    monkeypatch.setenv("PILOTHOUSE_CONCURRENCY", "9")
    assert load_settings().concurrency == 9


def test_an_unknown_name_in_a_dotenv_file_is_named_with_the_file(here: Path) -> None:
    (here / ".env").write_text("PILOTHOUSE_DATTA=x\n")
    with pytest.raises(ConfigError, match=r"PILOTHOUSE_DATTA \(in .*/\.env\)"):
        load_settings()


@pytest.mark.parametrize(
    ("given", "transport"),
    [
        ({}, None),
        ({"SLACK_SIGNING_SECRET": "s"}, "http"),
        ({"SLACK_APP_TOKEN": "a"}, "socket"),
        ({"SLACK_APP_TOKEN": "a", "SLACK_SIGNING_SECRET": "s"}, "socket"),
        ({"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "s"}, "http"),
    ],
)
def test_the_transport_follows_from_what_is_set(
    given: dict[str, str], transport: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert load_settings().transport == transport


def test_the_demos_shop_is_where_the_settings_say(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".env").write_text("PILOTHOUSE_DATA=from_file\n")
    assert shop() == Shop(here / "from_file")
    monkeypatch.setenv("PILOTHOUSE_DATA", "")
    assert shop() == Shop(load_settings().data)
    (here / ".env").unlink()
    assert shop() == Shop(platformdirs.user_data_path("pilothouse", appauthor=False))


def test_the_demo_keeps_to_a_named_folder_and_else_to_one_of_its_own(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert demo_folder(load_settings()) == load_settings().data / "demo"
    monkeypatch.setenv("PILOTHOUSE_DATA", "somewhere")
    assert demo_folder(load_settings()) == here / "somewhere"
