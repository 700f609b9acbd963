"""The composition root: what the settings name becomes a store and a runtime on it.

Nothing else imports ``store``. A bot process adds Slack, HTTP and a worker: ``bot.process``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.control_record import Source
from agent.engine.new_ids import UuidIds
from agent.errors import ConfigError, MayNotRevoke, NotAllowed
from agent.granting import requester_of
from agent.ports import Directory
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.requesters import Requester
from agent.rules.retention import Retention
from agent.rules.rule import People as Named
from agent.rules.standing import Grant
from agent.rules.state import Approval, RunState
from agent.rules.taking_back import may_take_back
from agent.runtime import Runtime
from bot.build import BUILD
from bot.config import Config, UnknownTool, load_config
from bot.config_mcp import started
from bot.models import check_models
from bot.reloading import Reloading
from bot.settings import Settings
from bot.unknown_tools import check_unknown_tools
from store import open_store
from store.checking import differences_at
from store.keys import Keys, may_be_id, new_key, parse_keys
from store.upgrading import Tables, read_tables, upgrade

if TYPE_CHECKING:
    from bot.slack.people import People

log = logging.getLogger(__name__)

_NOT_SAID = "Slack did not say who is in which group; "


@dataclass(frozen=True, slots=True)
class Opened:
    """A runtime on the store and with the agents that the settings name."""

    settings: Settings
    runtime: Runtime
    #: The file that it was made of.
    config: Config
    #: Keeps its agents as their file says, while it goes on.
    reloading: Reloading
    #: By which this process is known once it joins the others.
    process_id: str

    @property
    def retention(self) -> Retention:
        """How long what ended is kept, by the file that is in force."""
        return self.reloading.retention

    async def person(
        self, user: str, approval: Approval, requester: Principal, *, claimed_by: Principal
    ) -> Decider:
        """This Slack user as one who decides, looked up as for a click.

        Raises ``NotAllowed`` for whom Slack does not confirm, ``ConfigError`` without a token."""
        people = self._people("decided")
        from bot.slack.ids import SlackUser
        from bot.slack.people import NotEligible

        approvers = approval.approvers
        # Whoever asked for the run may answer its question, whatever groups there are.
        asker = SlackUser.of(requester)
        is_asker = approval.kind == "question" and asker is not None and asker.user == user
        try:
            found = await people.decider(user, asked=Approvers() if is_asker else approvers)
        except NotEligible as error:
            raise NotAllowed(approval.id, approvers, f"{error.why}.") from error
        return replace(found, claimed_by=claimed_by)

    async def taker_back(self, user: str, grant: Grant) -> Principal:
        """This Slack user as one who takes the grant back, looked up as for a click. Raises ``MayNotRevoke``
        for whom Slack does not confirm, ``ConfigError`` without a token."""
        from bot.slack.people import NotEligible

        agent = self.runtime.agents.get(grant.given.agent)
        owners = agent.policy.owners if agent else Named()
        groups = {*grant.given.groups, *owners.groups}
        try:
            found = await self._people("revoked").look_up(user, groups=groups)
        except NotEligible as error:
            raise MayNotRevoke(grant.id, error.why) from error
        requester = await requester_of(self.runtime.store, grant)
        if not may_take_back(grant.given, owners, requester, found.decider):
            why = "whoever gave it, might have given it, owns the agent or asked for the run may"
            raise MayNotRevoke(grant.id, f"{_NOT_SAID if found.unknown else ''}{why}")
        return found.decider.principal

    async def thread_link(self, state: RunState) -> str | None:
        """To where the run is shown in Slack; None for one that is shown nowhere, or not yet."""
        if state.place is None:
            return None
        from bot.slack.ids import link_to_thread

        known = await self.runtime.store.threads.known(state.run_id)
        status = known.messages.get("status")
        stands_at = status.address if status else None
        return link_to_thread(state.place, stands_at, self.settings.slack_api_url)

    def _people(self, done: str) -> People:
        # Slack's libraries are slow to import, and few commands need them.
        from bot.slack.clients import slack_client
        from bot.slack.people import People

        token = self.settings.slack_bot_token
        if token is None:
            raise ConfigError(
                f"--by looks people up in Slack, and SLACK_BOT_TOKEN is not set. Nothing was {done}."
            )
        return People(slack_client(token.get_secret_value(), self.settings.slack_api_url))


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    judges: bool = True,
    asks_models: bool = False,
    only_looks: bool = False,
    must_exist: bool = False,
) -> AsyncIterator[Opened]:
    """``judges``: runs may be started, decided or worked here. Where they are not, a rule for a tool that is gone
    does no harm, and no MCP server is needed. ``asks_models``: runs of all agents are worked here. ``only_looks``:
    nothing is made or changed. ``must_exist``: no store is made. Raises ``ConfigError``, ``StoreUnavailable``."""
    config = load_config(settings.config, model=settings.model)
    if asks_models:
        check_models(config.agents)
    async with started(config.servers if judges else ()):
        unknown = config.check_tools() if judges else ()
        async with _opened(
            settings,
            config,
            unknown,
            asks_models=asks_models,
            only_looks=only_looks,
            must_exist=must_exist,
        ) as house:
            yield house


@asynccontextmanager
async def _opened(
    settings: Settings,
    config: Config,
    unknown: Sequence[UnknownTool],
    *,
    asks_models: bool,
    only_looks: bool,
    must_exist: bool,
) -> AsyncIterator[Opened]:
    store = await open_store(
        settings.store_url,
        listen_url=settings.listening_url,
        keys=keys_of(settings),
        only_looks=only_looks,
        must_exist=must_exist,
    )
    runtime = Runtime(
        config.agents,
        store,
        directory=_directory(settings),
        term=settings.term,
        drain=settings.drain,
        build=BUILD,
    )
    try:
        await check_unknown_tools(unknown, runtime)
        process_id = UuidIds().new("proc")
        reloading = Reloading(
            settings.config,
            config,
            runtime,
            Source(BUILD, process_id),
            model=settings.model,
            asks_models=asks_models,
        )
        yield Opened(settings, runtime, config, reloading, process_id)
    finally:
        await store.close()


@dataclass(frozen=True, slots=True)
class CheckedDatabase:
    """How a database stands, as this build sees it."""

    tables: Tables
    #: Where what is kept beside the journals says something else than they do, in words; None: not
    #: compared, for the tables are not those of this build.
    differences: tuple[str, ...] | None

    @property
    def is_fine(self) -> bool:
        return self.tables.may_run and self.differences == ()


def keys_of(settings: Settings) -> Keys:
    """What the store is kept with. Raises ``ConfigError``."""
    encryption, audit = settings.encryption_keys, settings.audit_key
    return parse_keys(
        encryption.get_secret_value() if encryption else None,
        audit.get_secret_value() if audit else None,
    )


def make_key(id: str | None) -> str:
    """A new key, as the settings want it: an encryption key of this id, or an audit key. Raises ``ConfigError``."""
    if id is None:
        return new_key()
    if not may_be_id(id):
        raise ConfigError(
            f"{id!r} can't be a key's id: take at most 40 letters, digits, dots, _ and -."
        )
    return f"{id}:{new_key()}"


async def check_database(
    settings: Settings, progress: Callable[[int], None] | None = None
) -> CheckedDatabase:
    """Look at the database that the settings name, and change nothing; ``progress`` is told how many runs were looked
    at. Raises ``ConfigError``, ``StoreUnavailable``."""
    url, listen_url = settings.store_url, settings.listening_url
    tables = await read_tables(url, listen_url=listen_url)
    if tables.pending or not tables.may_run:
        return CheckedDatabase(tables, None)
    found = await differences_at(
        url, listen_url=listen_url, keys=keys_of(settings), progress=progress
    )
    return CheckedDatabase(tables, tuple(found))


async def upgrade_database(settings: Settings) -> tuple[Tables, Tables]:
    """Bring its tables up to date; how they were, and how they are. Raises as ``open_store``."""
    return await upgrade(
        settings.store_url, listen_url=settings.listening_url, keys=keys_of(settings)
    )


def _directory(settings: Settings) -> Directory | None:
    """Slack's; without a token nobody can be looked up, and votes count as they were given."""
    token = settings.slack_bot_token
    if token is None:
        return None
    return _LazyDirectory(token.get_secret_value(), settings.slack_api_url)


class _LazyDirectory:
    """Slack's directory, made when somebody is first looked up: its libraries are slow to import."""

    def __init__(self, token: str, api_url: str | None) -> None:
        self._token = token
        self._api_url = api_url
        self._made: Directory | None = None

    async def find(self, principal: Principal, groups: Collection[str]) -> Decider | None:
        return await self._theirs().find(principal, groups)

    async def requester(self, principal: Principal, groups: Collection[str]) -> Requester:
        return await self._theirs().requester(principal, groups)

    def _theirs(self) -> Directory:
        if self._made is None:
            from bot.slack.clients import slack_client
            from bot.slack.directory import SlackDirectory
            from bot.slack.people import People

            self._made = SlackDirectory(People(slack_client(self._token, self._api_url)))
        return self._made
