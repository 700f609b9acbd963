"""Where death shows by a connection: whoever loses it and lives is not taken for dead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from agent.ports import Process
from store import SqlStore, session_lives
from store.instants import EPOCH
from store.session_lives import SECONDS_TO_RETURN, Absences
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask
from tests.store.network import Network, network
from tests.store.waiting import until

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

TERM = timedelta(hours=1)
PROCESS = Process("p1", "test", (), True, False)
#: So often whoever looks does so in the time after which it would bury.
LOOKS = 50
BEATS = [EPOCH, EPOCH + timedelta(seconds=10)]

_CUT_OFF_WHO_HOLDS_LOCKS = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database"
    " WHERE locktype = 'advisory' AND d.datname = current_database()"
)


class TestAbsences:
    @pytest.fixture
    def seconds(self) -> list[float]:
        return [100.0]

    @pytest.fixture
    def absences(self, seconds: list[float]) -> Absences:
        return Absences(lambda: seconds[0])

    def test_one_look_tells_nothing(self, absences: Absences) -> None:
        absences.note([("p1", BEATS[0])])
        assert absences.long() == {}

    def test_who_stays_away_and_silent_is_dead(
        self, absences: Absences, seconds: list[float]
    ) -> None:
        absences.note([("p1", BEATS[0])])
        seconds[0] += SECONDS_TO_RETURN
        absences.note([("p1", BEATS[0]), ("p2", BEATS[0])])
        assert absences.long() == {"p1": BEATS[0]}

    def test_who_was_there_in_between_is_not(
        self, absences: Absences, seconds: list[float]
    ) -> None:
        for absent in (["p1"], [], ["p1"]):
            absences.note([(one, BEATS[0]) for one in absent])
            seconds[0] += SECONDS_TO_RETURN / 2
        assert absences.long() == {}

    def test_who_has_beaten_in_between_is_not(
        self, absences: Absences, seconds: list[float]
    ) -> None:
        """However seldom one looks: each time it may be without a lock for a moment."""
        for beat_at in BEATS:
            absences.note([("p1", beat_at)])
            assert absences.long() == {}
            seconds[0] += 10


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules as they are, with shorter times."""
    monkeypatch.setattr(session_lives, "SECONDS_TO_RETURN", 1.5)
    monkeypatch.setattr(session_lives, "SECONDS_TO_COME_BACK", 0.0)


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, by which whoever looks judges an absence. They go by its looks: while the whole process stands still,
    as on a busy machine, who is away can't come back either."""
    seconds = [100.0]
    monkeypatch.setattr(session_lives, "Absences", lambda: Absences(lambda: seconds[0]))
    return seconds


@pytest.fixture
async def other(open_another: OpenAnother, passed: list[float]) -> SqlStore:
    """Who looks after the dead."""
    return await open_another(clock=None, listens=False)


async def says(url: str, *, has_lock: bool) -> bool:
    """Does the process say so of itself?"""
    return ask(url, "SELECT has_lock FROM processes") == [(has_lock,)]


async def look_for_a_while(
    other: SqlStore, passed: list[float], meanwhile: Callable[[], object]
) -> None:
    """Long enough to bury who is dead. Nobody is."""
    for _ in range(2 * LOOKS):
        passed[0] += session_lives.SECONDS_TO_RETURN / LOOKS
        meanwhile()
        assert await other.processes.bury_dead() == []
        assert await other.processes.alive(TERM) == [PROCESS]
        await asyncio.sleep(0.01)


@pytest.mark.usefixtures("soon")
class TestAListeningConnectionThatIsLost:
    async def test_and_opened_again_is_no_death(
        self, open_another: OpenAnother, other: SqlStore, passed: list[float], url: str
    ) -> None:
        store = await open_another(clock=None)
        await store.processes.join(PROCESS)
        await look_for_a_while(other, passed, lambda: ask(url, _CUT_OFF_WHO_HOLDS_LOCKS))
        await until(lambda: says(url, has_lock=True))

    async def test_for_good_is_no_death_either_while_its_process_can_say_so(
        self, url: str, open_another: OpenAnother, other: SqlStore, passed: list[float]
    ) -> None:
        async with unlistened(url, open_another) as between:
            await until(lambda: says(url, has_lock=False))
            await look_for_a_while(other, passed, lambda: None)
            between.bring_back()
            await until(lambda: says(url, has_lock=True))


@asynccontextmanager
async def unlistened(url: str, open_another: OpenAnother) -> AsyncIterator[Network]:
    """The process is there, and only what it listens through is not."""
    async with network(url) as (between, through):
        store = await open_another(clock=None, listen_url=through)
        await store.processes.join(PROCESS)
        assert await says(url, has_lock=True)
        between.take_away()
        between.cut_off()
        yield between
        await store.close()


@pytest.mark.usefixtures("soon")
async def test_a_death_is_seen_by_whoever_begins_to_look_afterwards(
    open_another: OpenAnother, other: SqlStore, passed: list[float]
) -> None:
    store = await open_another(clock=None)
    await store.processes.join(PROCESS)
    await store.close()
    assert await other.processes.bury_dead() == []

    async def buried() -> list[str]:
        passed[0] += session_lives.SECONDS_TO_RETURN / LOOKS
        return await other.processes.bury_dead()

    assert await until(buried) == ["p1"]


@pytest.mark.usefixtures("soon")
async def test_nobody_is_dead_while_a_server_has_just_come_back(
    open_another: OpenAnother,
    other: SqlStore,
    passed: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_lives, "SECONDS_TO_COME_BACK", 10.0**9)
    store = await open_another(clock=None)
    await store.processes.join(PROCESS)
    await store.close()
    await look_for_a_while(other, passed, lambda: None)


@pytest.mark.usefixtures("quick_deaths")
async def test_a_join_whose_answer_was_lost_is_buried(
    url: str, open_another: OpenAnother, other: SqlStore
) -> None:
    async with network(url) as (between, through):
        store = await open_another(clock=None, url=through, patience=timedelta(seconds=1))
        between.lose_answer_to(b"COMMIT;")
        with pytest.raises(Exception, match="does not answer"):
            await store.processes.join(PROCESS)
        assert ask(url, "SELECT process_id FROM processes") == [("p1",)]
        assert await other.processes.alive(TERM) == []
        assert await other.processes.bury_dead() == ["p1"]
        await store.close()
