"""Whether what the store holds is what was written: every journal, also against an anchor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent.errors import NotFound
from agent.ports import Checked, Verifier
from agent.rules.anchors import CONTROL, Anchor, Break, Head
from agent.rules.counted import counted
from agent.rules.ids import RunId


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a check: how much was looked at, the first break of each journal that has one, and
    where the journals that are whole end."""

    runs: int
    facts: int
    #: Of how many runs something was removed, and of how many all was: their last hashes still stand.
    partly_removed: int
    purged: int
    breaks: tuple[Break, ...]
    heads: tuple[Head, ...]
    #: Of how many runs something was removed since the anchor was taken, as the control journal says. The anchor knows
    #: their last hashes, and can't tell what is left of them from what somebody put there.
    removed_since: int = 0

    @property
    def is_whole(self) -> bool:
        return not self.breaks


#: Told so many runs and so many facts, now and then while they are looked at.
Progress = Callable[[int, int], None]


async def verify(
    verifier: Verifier,
    run_id: RunId | None = None,
    anchor: Anchor | None = None,
    *,
    keeps_heads: bool = True,
    progress: Progress | None = None,
) -> Verified:
    """Check one run, or all of them and the control journal; facts are read in pages. With ``anchor``
    also whether they hold what they held then. Without ``keeps_heads`` no heads are given, which would be a million
    of a million runs. Raises ``NotFound`` for a run of which nothing is known.
    """
    anchored = {head.journal: head for head in anchor.heads} if anchor else {}
    found = _Found(keeps_heads)
    if run_id is not None:
        found.add(await _check_run(verifier, run_id, anchored.get(run_id)))
        return found.sum_up()
    known_control = anchored.pop(CONTROL, None)
    found.add(await verifier.check_control(known_control))
    gone: set[str] = set()
    async for one, looked in verifier.first_looks():
        head = anchored.pop(one, None)
        if looked is None or (head is not None and head != looked.head):
            looked = await _check_run(verifier, one, head)
        found.add(looked)
        if looked.purged_at is not None:
            gone.add(one)
        if progress is not None:
            progress(found.runs, found.facts)
    async for buried in verifier.check_tombstones(anchored):
        anchored.pop(buried.head.journal, None)
        # Some of the runs may have gone while they were looked at.
        if buried.head.journal not in gone:
            found.add(buried)
    async for orphan in verifier.orphans():
        anchored.pop(orphan, None)
        found.add(_lost(orphan, "there are facts, and no row that says where the run stands"))
    known = {one.journal for one in found.breaks}
    async for gap in verifier.missing():
        if gap.journal not in known:
            known.add(gap.journal)
            anchored.pop(gap.journal, None)
            found.add(_missing(gap))
    for lost in anchored.values():
        why = f"all of it is missing: the anchor knows of {counted(lost.seq, 'fact')}"
        found.add(_lost(lost.journal, why))
    since = 0 if known_control is None else await verifier.removed_behind(known_control.seq)
    return replace(found.sum_up(), removed_since=since)


async def _check_run(verifier: Verifier, run_id: RunId, anchored: Head | None) -> Checked:
    """Also while something of it is being removed, between two looks: what is broken looks the same twice."""
    checked = await _look_at(verifier, run_id, anchored)
    while checked.broken is not None:
        again = await _look_at(verifier, run_id, anchored)
        if again == checked:
            break
        checked = again
    return checked


async def _look_at(verifier: Verifier, run_id: RunId, anchored: Head | None) -> Checked:
    if buried := await verifier.check_tombstone(run_id, anchored):
        return buried
    try:
        return await verifier.check(run_id, anchored)
    except NotFound:
        if buried := await verifier.check_tombstone(run_id, anchored):
            return buried
        async for orphan in verifier.orphans():
            if orphan == run_id:
                return _lost(run_id, "there are facts, and no row that says where the run stands")
        async for gap in verifier.missing():
            if gap.journal == run_id:
                return _missing(gap)
        if anchored is None:
            raise
        return _lost(
            run_id, f"all of it is missing: the anchor knows of {counted(anchored.seq, 'fact')}"
        )


def _lost(journal: str, why: str) -> Checked:
    return Checked(Head(journal=journal, seq=0, hash=""), Break(journal, 0, why))


def _missing(gap: Break) -> Checked:
    return Checked(Head(journal=gap.journal, seq=0, hash=""), gap)


@dataclass
class _Found:
    """What became of the check so far: no more of it is kept than is told."""

    keeps_heads: bool
    runs: int = 0
    facts: int = 0
    partly_removed: int = 0
    purged: int = 0
    breaks: list[Break] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)

    def add(self, one: Checked) -> None:
        if one.purged_at is None:
            self.runs += one.head.journal != CONTROL
            self.facts += one.head.seq
        else:
            self.purged += 1
        self.partly_removed += one.purged_at is None and one.is_partly_removed
        if one.broken is not None:
            self.breaks.append(one.broken)
        elif self.keeps_heads:
            self.heads.append(one.head)

    def sum_up(self) -> Verified:
        return Verified(
            runs=self.runs,
            facts=self.facts,
            partly_removed=self.partly_removed,
            purged=self.purged,
            breaks=tuple(self.breaks),
            heads=tuple(self.heads),
        )
