"""A run that is shown in a thread of its own, which its status message opens first."""

from __future__ import annotations

from agent.errors import NothingToDo, PilothouseError, StoreUnavailable
from agent.ports import Store, ThreadMessage
from agent.rules.events import RunStarted
from agent.rules.ids import Principal, RunId
from agent.rules.words import MESSAGE_LIMIT, must_fit
from bot.slack.choosing import Meant
from bot.slack.ids import Address, Place
from bot.slack.roots.opening import Opener, asking_for, first_status
from bot.slack.services import Services
from bot.slack.thread.edge import SlackThreads


class StartInDoubt(PilothouseError):
    """The store did not say whether a run has begun, and does not when it is asked."""


async def start_in_thread_of_its_own(
    services: Services, meant: Meant, requester: Principal, at: Place, key: str | None
) -> RunId:
    """The run that this begins in the channel, or that ``key`` began before. Raises ``NotOpened``: then none has
    begun; ``StartInDoubt``; and as ``Runtime.start`` does."""
    if not meant.prompt.strip():
        raise NothingToDo
    must_fit(meant.prompt, MESSAGE_LIMIT)
    runtime = services.runtime
    if key is not None and (begun := await runtime.store.lists.run_of_key(key)) is not None:
        return begun
    if (limit := runtime.agents[meant.agent].starts_limit) is not None:
        # Else each that is one too many would be posted, and taken back.
        await runtime.store.lists.must_have_starts_left(requester, meant.agent, limit)
    opener = opener_for(services, meant, requester, at)
    run_id, root = opener.run_id, await opener.post()
    try:
        begun = await _start(services, run_id, meant, requester, key, at, root)
    except StoreUnavailable:
        # It may have begun all the same. Where that is not known yet, whoever gives the opening up finds out.
        if key is None or (begun := await run_begun_by(runtime.store, key)) is None:
            raise
    except PilothouseError:
        await opener.take_back(root)
        raise
    if begun != run_id:
        # The same command was delivered twice at once.
        await opener.take_back(root)
    return begun


async def run_begun_by(store: Store, key: str) -> RunId | None:
    """After the store has not answered: the run that this key has begun. Raises ``StartInDoubt``."""
    try:
        return await store.lists.run_of_key(key)
    except StoreUnavailable as error:
        raise StartInDoubt("the store does not answer") from error


def opener_for(services: Services, meant: Meant, requester: Principal, at: Place) -> Opener:
    """What opens the thread of a run that is about to begin in this channel."""
    runtime, place = services.runtime, str(at)
    run_id, store = runtime.new_run_id(), runtime.store
    now = store.clock.now()
    started = RunStarted(
        agent=meant.agent,
        session=at.session,
        prompt=meant.prompt,
        requester=requester,
        channel=at.channel,
        place=place,
        dry_run=runtime.agents[meant.agent].dry_run,
    )
    return Opener(
        store=store,
        slack=SlackThreads(services.slack),
        asking=asking_for(run_id, services.limiter, now),
        wanted=first_status(run_id, started, now, names_agent=len(runtime.agents) > 1),
        at=at,
    )


async def _start(
    services: Services,
    run_id: RunId,
    meant: Meant,
    requester: Principal,
    key: str | None,
    at: Place,
    root: ThreadMessage,
) -> RunId:
    stands = Address.of(root.address or "")
    place = Place(at.team, stands.channel, stands.ts)
    return await services.runtime.start(
        meant.prompt,
        requester=requester,
        agent=meant.agent,
        session=place.session,
        key=key,
        channel=at.channel,
        place=str(place),
        run_id=run_id,
        root=root,
    )
