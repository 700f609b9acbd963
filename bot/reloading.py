"""The file is read again when it changes, and what it says then is in force at once, or not at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from agent.control_record import Source, newest_version, record_policies
from agent.engine.in_force import AgentsInForce, FileStanding, Refused
from agent.engine.releasing import release
from agent.engine.telling import tell
from agent.errors import ConfigError, StoreError
from agent.rules.retention import Retention
from agent.runtime import Runtime
from agent.tools.running import TookTooLong, run_bounded, run_function
from bot.carrying_over import CarriedOver, carried_over
from bot.config import Config, load_config
from bot.marked_yaml import Problem
from bot.models import check_models
from bot.policy_checking import warnings_in
from bot.together import end
from bot.unknown_tools import check_unknown_tools
from bot.watching_file import Look, look_at, settled

log = logging.getLogger(__name__)

#: Between two looks. With the second look that has to agree, a change is in force within two seconds.
LOOK_SECONDS = 0.5
#: So long a file may take to be loaded. Importing a module may take for ever, and nothing would start any more.
LOAD_SECONDS = 30.0


@dataclass(slots=True)
class Reloading:
    """Keeps the agents of ``runtime`` as the file at ``path`` says. ``start`` is what the process began with,
    ``model`` what replaces every agent's, ``process`` how it is named in the control journal; ``asks_models``: runs
    of all agents are worked here, so that each model must be there."""

    path: Path
    start: Config
    runtime: Runtime
    process: Source
    model: str | None = None
    asks_models: bool = False
    #: SHA-256 of what was looked at last, whether it could be loaded or not.
    judged: str = ""
    #: How long what ended is kept, by the file that is in force.
    retention: Retention = field(init=False)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _said: str = ""
    _may_release: bool = False

    def __post_init__(self) -> None:
        seen = look_at(self.path)
        digest = Look(self.start.marked.content).digest
        # What was loaded may have been replaced since: then nothing is known of when it was written.
        written_at = seen.written_at if seen.digest == digest else None
        self.judged = digest
        self.retention = self.start.retention
        self.agents.standing = FileStanding(self.path.name, digest, written_at)
        self.agents.look = self._look_for_others

    @property
    def agents(self) -> AgentsInForce:
        return self.runtime.agents

    @property
    def standing(self) -> FileStanding:
        assert self.agents.standing is not None, "set at the beginning"
        return self.agents.standing

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """The file is looked at, again and again, until the block ends."""
        looking = asyncio.create_task(self.run(), name="policy file")
        try:
            yield
        finally:
            await end([looking])

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except StoreError as error:
                self._say_once(f"what {self.path.name} says now can't be carried out yet: {error}")

    async def record(self) -> None:
        """Take down what this process begins with, for one that works runs, and tell the log what can't be meant in
        it. Raises ``StoreError``."""
        await record_policies(self.runtime.store, self.agents, self._source(self.standing))
        _warn_of(await asyncio.to_thread(warnings_in, self.start))

    async def look(self) -> None:
        """Once this returns, what stood in the file when it was called is in force, unless it is wrong, or still being
        written. Raises ``StoreError`` where a new policy can't be recorded; then it is not in force."""
        async with self._one_at_a_time:
            seen = await settled(self.path, lambda seen: seen.digest != self.judged)
            if seen is not None:
                await self._take(seen)
            if self._may_release:
                # What a freeze window keeps wakes when that ends: it may be another by now, or none.
                await release(self.runtime.store, with_windows=True)
                self._may_release = False

    async def _look_for_others(self) -> None:
        """Somebody may have loaded another policy: is it that of our file by now? Raises ``StoreError``."""
        await self.look()
        for name, agent in self.agents.items():
            newest = await newest_version(self.runtime.store, name)
            if newest is not None and newest != agent.policy.version:
                self._say_once(
                    f"agent {name} is judged by policy {agent.policy.version} here, and by {newest} elsewhere,"
                    f" as it seems: is {self.path.name} the same on every host?"
                )

    async def _take(self, seen: Look) -> None:
        """Raises ``StoreError``."""
        if seen.digest == self.standing.digest:
            self._back(seen)
            return
        try:
            carried, standing, warnings = await self._load(seen)
        except ConfigError as error:
            self._refuse(seen, str(error))
            return
        except StoreError:
            raise
        except Exception as error:
            # The modules of tools are foreign code, and the old file holds: no run may have to do without it.
            log.exception("a fault of ours in loading %s", self.path)
            self._refuse(seen, f"{self.path}: a fault of ours in loading it: {tell(error)}")
            return
        # Taken down first: a verdict never names a policy of which nothing is known.
        await record_policies(
            self.runtime.store, carried.written, self._source(standing), is_first=False
        )
        before = {name: agent.policy.version for name, agent in self.agents.items()}
        self.agents.replace(carried.agents, standing)
        self.retention = carried.retention
        self.judged = seen.digest
        self._tell(before)
        _warn_of(warnings)
        self._may_release = True

    async def _load(self, seen: Look) -> tuple[CarriedOver, FileStanding, Sequence[Problem]]:
        """Raises ``ConfigError``, ``StoreError``."""
        if seen.content is None:
            raise ConfigError(seen.why)
        # It may import what tools there are, and nothing starts here until it is known what the file says.
        loading = run_function(
            load_config, self.path, model=self.model, content=seen.content, running=self.start
        )
        try:
            new = await run_bounded(loading, LOAD_SECONDS)
        except TookTooLong:
            raise ConfigError(
                f"{self.path}: loading it, and the tools that it names, takes longer than {LOAD_SECONDS:g} s; change it,"
                " and it is tried again, or start anew: a start waits for as long as it takes."
            ) from None
        carried = carried_over(self.start, self.agents, new)
        if self.asks_models:
            await asyncio.to_thread(check_models, carried.agents)
        await check_unknown_tools(new.unknown_tools, self.runtime)
        standing = FileStanding(
            self.path.name, seen.digest, seen.written_at, needs_restart=carried.needs_restart
        )
        return carried, standing, await asyncio.to_thread(warnings_in, new)

    def _source(self, standing: FileStanding) -> Source:
        return replace(self.process, file=standing.file, digest=standing.digest)

    def _refuse(self, seen: Look, why: str) -> None:
        """Once for each content: it is looked at no more until it changes."""
        self.judged = seen.digest
        # Who reads it in Slack knows the file, and not the machine.
        refused = Refused(why.replace(str(self.path), self.path.name), seen.written_at)
        self.agents.standing = replace(self.standing, refused=refused)
        log.error(
            "%s%s could not be loaded; that%s stays in force:\n%s",
            *(self.path.name, _of(seen.written_at), _of(self.standing.written_at), why),
        )

    def _back(self, seen: Look) -> None:
        """What is in force stands in the file again."""
        self.judged = seen.digest
        self.agents.standing = replace(self.standing, refused=None)
        log.info("%s says again what is in force", self.path.name)

    def _tell(self, before: dict[str, str]) -> None:
        standing = self.standing
        self._said = ""
        log.info(
            "%s%s is in force (sha256 %s)",
            *(standing.file, _of(standing.written_at), standing.digest[:12]),
        )
        for name, agent in self.agents.items():
            if agent.policy.version != before.get(name):
                log.info("agent %s is judged by policy %s", name, agent.policy.version)
        if standing.needs_restart:
            log.warning(
                "%s: needs a restart: %s; the rest holds",
                *(standing.file, ", ".join(standing.needs_restart)),
            )

    def _say_once(self, words: str) -> None:
        if words != self._said:
            self._said = words
            log.warning("%s", words)


def _warn_of(problems: Sequence[Problem]) -> None:
    """A line each: what is quoted of the file may have more."""
    for one in problems:
        log.warning("%s", " ".join(str(one).split()))


def _of(at: datetime | None) -> str:
    return f" of {at:%Y-%m-%d %H:%M:%S} UTC" if at else ""
