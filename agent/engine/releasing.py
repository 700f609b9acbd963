"""Having runs go on that a switch kept, which is off by now."""

from __future__ import annotations

from agent.chores import Chore
from agent.ports import Store
from agent.rules.state import RunState

#: So many runs fall due at a time: whoever wants to write to another waits no longer than for these.
AT_A_TIME = 200
#: Whoever turns a switch off makes its runs due. A process looks this often as well, in seconds: for those of one
#: that has ended before it was done.
SECONDS_BETWEEN_LOOKS = 5.0


async def release(store: Store, *, with_windows: bool = False) -> int:
    """All that are kept no more fall due; how many these were. ``with_windows``: also those that a window keeps, which
    is a look of theirs in vain while it is still open. Raises ``StoreError``."""
    released = 0
    while found := await store.control.wake_released(AT_A_TIME, with_windows=with_windows):
        released += found
        if found < AT_A_TIME:
            break
    return released


async def release_again(store: Store, state: RunState) -> None:
    """For a run that was let go as the windows of an agent said that has been replaced meanwhile: whoever replaced it
    had those go on that nobody held, and this one was held. Raises ``StoreError``."""
    if any(halt.window is not None for halt in state.halts):
        await release(store, with_windows=True)


def keep_releasing(store: Store) -> Chore:
    """What windows kept falls due once, at the beginning: they may be others by now."""
    with_windows = True

    async def some() -> bool:
        nonlocal with_windows
        await release(store, with_windows=with_windows)
        with_windows = False
        return False

    return Chore("let go that a switch keeps no more", some, SECONDS_BETWEEN_LOOKS)
