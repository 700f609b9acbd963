"""One bot process: Slack, a worker, the threads, health; together until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web
from pydantic import SecretStr

from agent.chores import Chore
from agent.engine.presence import ALIVE_FOR
from agent.engine.worker import Worker
from agent.errors import ConfigError, StoreError
from agent.ports import Process, Processes, Store
from agent.runtime import Runtime
from bot.chores import remove_by_retention, rotate_keys
from bot.compose import Opened, opened
from bot.heartbeat import Heartbeat
from bot.http.health import Check, health_routes
from bot.http.listen import listening
from bot.settings import Settings
from bot.slack.app import make_abandoned, make_drawer, make_incoming, make_services
from bot.slack.clients import SLACK_ERRORS, error_name, http_session, slack_client
from bot.slack.connection import SlackConnection
from bot.slack.connections import SlackConnections, share_of
from bot.slack.people import People
from bot.slack.people_first import PeopleFirst
from bot.slack.requests import slack_routes
from bot.slack.services import Services
from bot.slack.thread.draw import ThreadDrawer
from bot.together import begin, end, stop_signals, until_stopped

log = logging.getLogger(__name__)

#: Whoever asks whether we are ready waits so long for the store.
STORE_ANSWERS_SECONDS = 2.0
#: Between two attempts to learn who we are in Slack.
ASK_SECONDS = 2.0
#: For what people did at the last moment to be answered before the worker ends, and for what is
#: being drawn; at the very end, for whoever has been told that it is still being saved.
ANSWER_SECONDS = 3.0
DRAW = timedelta(seconds=3)
LAST_ANSWER_SECONDS = 10.0
#: A balancer finds out by ``/readyz`` that we end, and sends requests until it has.
NOTICED_SECONDS = 5.0
MANUAL = "README.md, “Connect a workspace”, says where to get it"

#: Told the process's id, and the host and port where HTTP listens.
Announce = Callable[[str, str, int], None]


async def serve(settings: Settings, announce: Announce) -> None:
    """Until SIGTERM or SIGINT; then calls in flight get the drain time to end.

    Raises ``ConfigError``, ``StoreUnavailable``, ``CannotListen``, and what ended a part."""
    bot_token = _needed(settings.slack_bot_token, "SLACK_BOT_TOKEN")
    if settings.transport is None:
        raise ConfigError(
            "Slack can't reach this process: set SLACK_APP_TOKEN (Socket Mode) or "
            f"SLACK_SIGNING_SECRET (HTTP). {MANUAL}. `pilothouse demo` needs neither."
        )
    async with opened(settings, asks_models=True) as house, http_session() as session:
        await house.reloading.record()
        slack = slack_client(bot_token, settings.slack_api_url, session=session)
        with stop_signals() as stop:
            services = make_services(house.runtime, slack)
            parts = _assemble(settings, house, services, stop)
            routes = [*health_routes(parts.checks, parts.failing), *parts.routes]
            async with listening(routes, settings.http_host, settings.http_port) as port:
                await house.runtime.store.processes.join(parts.process)
                announce(parts.process.process_id, settings.http_host, port)
                for name, agent in house.runtime.agents.items():
                    log.info("agent %s is judged by policy %s", name, agent.policy.version)
                    if agent.dry_run:
                        log.info("agent %s has dry_run: nothing is carried out", name)
                await _run(parts, settings, house, stop)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Everything that a bot process consists of."""

    process: Process
    services: Services
    worker: Worker
    drawer: ThreadDrawer
    heartbeat: Heartbeat
    #: By what the log and ``/readyz`` call them.
    chores: Mapping[str, Chore]
    #: None where Slack comes by HTTP.
    connection: SlackConnections | None
    #: Empty where it comes by Socket Mode alone.
    routes: Sequence[web.RouteDef]
    #: Set when no more of Slack's requests are taken.
    closed: asyncio.Event
    checks: Mapping[str, Check]

    def failing(self) -> list[str]:
        """What a fault of ours keeps from being done, while people are served."""
        found = [name for name, chore in self.chores.items() if chore.is_failing]
        return found if self.worker.is_releasing else [*found, "releasing"]


def _assemble(settings: Settings, house: Opened, services: Services, stop: asyncio.Event) -> _Parts:
    runtime, process_id = house.runtime, house.process_id
    secret = settings.slack_signing_secret
    app_token = settings.slack_app_token
    incoming = make_incoming(services, signing_secret=secret.get_secret_value() if secret else None)
    worker = runtime.worker(
        process_id=process_id,
        concurrency=settings.concurrency,
        term=settings.term,
        may_claim=PeopleFirst(lambda: services.answering.is_pressed),
    )
    connection = None
    if app_token is not None:
        token = app_token.get_secret_value()
        connection = SlackConnections(
            lambda: SlackConnection(incoming, token, settings.slack_api_url),
            lambda: how_many_connections(runtime.store.processes),
        )
    routes, closed = list[web.RouteDef](), asyncio.Event()
    if secret is not None:
        routes = slack_routes(incoming, secret.get_secret_value(), is_ending=closed.is_set)
    heartbeat = Heartbeat(runtime.store.processes, process_id)
    return _Parts(
        process=runtime.process(process_id, draws=True),
        services=services,
        worker=worker,
        drawer=make_drawer(
            runtime,
            services.slack,
            people=services.people,
            process_id=process_id,
            term=settings.term,
            may_claim=PeopleFirst(lambda: services.answering.is_pressed),
        ),
        heartbeat=heartbeat,
        chores={
            "openings": make_abandoned(services).chore(),
            "retention": remove_by_retention(house),
            "keys": rotate_keys(runtime.store.rotation, process_id),
        },
        connection=connection,
        routes=routes,
        closed=closed,
        checks={
            # The tables were brought up to date when the store was opened; it may be away since.
            "migrated": lambda: store_answers(runtime.store),
            # It may be read, and take nothing: its disk is full.
            "heartbeat": _later(lambda: heartbeat.is_beating),
            "slack": _later(
                lambda: (
                    services.people.knows_home and (connection is None or connection.is_connected)
                )
            ),
            "worker": _later(lambda: worker.has_claimed),
            "running": _later(lambda: not stop.is_set()),
        },
    )


async def _run(parts: _Parts, settings: Settings, house: Opened, stop: asyncio.Event) -> None:
    process_id, processes = parts.process.process_id, house.runtime.store.processes
    staying = begin(
        {
            "worker": parts.worker.run(),
            "threads": parts.drawer.run(),
            "heartbeat": parts.heartbeat.run(),
            "policy file": house.reloading.run(),
            **{name: chore.go_on() for name, chore in parts.chores.items()},
        }
    )
    hearing = begin({"slack": parts.connection.run()} if parts.connection else {})
    asking = begin(
        {"who we are": _ask_who_we_are(parts.services.people), "mending": _mend(house.runtime)}
    )
    try:
        await until_stopped([*staying, *hearing], stop, passing=asking)
        log.info("%s is asked to end", process_id)
    finally:
        # Not ready any more, also where nobody asked it to end, and no news by Socket Mode; then what is at work ends;
        # no requests either; last, the threads show how it did.
        stop.set()
        noticed = asyncio.create_task(asyncio.sleep(_until_noticed(parts, settings)))
        await end([*hearing, *asking])
        await parts.services.answering.wait(ANSWER_SECONDS)
        await asyncio.gather(parts.worker.stop(settings.drain), noticed)
        parts.closed.set()
        await parts.services.answering.wait(ANSWER_SECONDS)
        await parts.drawer.stop(DRAW)
        await parts.services.answering.drain(LAST_ANSWER_SECONDS)
        await end(staying)
        await processes.leave(process_id)


def _until_noticed(parts: _Parts, settings: Settings) -> float:
    """Requests come until a balancer knows; no longer than whoever runs us gives the rest of the work."""
    return min(NOTICED_SECONDS, settings.drain.total_seconds()) if parts.routes else 0.0


async def how_many_connections(processes: Processes) -> int | None:
    """One's share of what Slack lets the app have; None, while the store does not say who else is there."""
    try:
        alive = await processes.alive(ALIVE_FOR)
    except StoreError:
        return None
    return share_of(sum(one.draws for one in alive))


async def _mend(runtime: Runtime) -> None:
    """Once; what it does not come to is mended when somebody takes it up, or asks for it."""
    try:
        await runtime.mend(at_sight=True)
    except StoreError as error:
        log.warning("nothing can be mended now: %s", error)
    except Exception as error:
        # It would be met again at each start, and nobody would be answered. Its words may quote what somebody wrote.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error(
            "a fault of ours in mending; the process goes on: %s\n%s", type(error).__name__, where
        )


def _later(is_so: Callable[[], bool]) -> Check:
    async def check() -> bool:
        return is_so()

    return check


async def store_answers(store: Store) -> bool:
    """Can the store be asked, now?"""
    try:
        async with asyncio.timeout(STORE_ANSWERS_SECONDS):
            await store.lists.runs(limit=1)
    except (StoreError, TimeoutError):
        return False
    return True


async def _ask_who_we_are(people: People) -> None:
    """Until Slack has told it once: without it nobody can be answered."""
    said = ""
    while not people.knows_home:
        try:
            await people.home()
        except SLACK_ERRORS as error:
            if (why := error_name(error)) != said:
                log.warning("Slack does not say who we are: %s; it is asked again", why)
            said = why
            await asyncio.sleep(ASK_SECONDS)


def _needed(secret: SecretStr | None, name: str) -> str:
    if secret is None:
        raise ConfigError(f"{name} is not set. {MANUAL}. `pilothouse demo` needs none.")
    return secret.get_secret_value()
