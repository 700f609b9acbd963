"""Whether what the store holds is what was written: every journal, also against an anchor."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.errors import NotFound
from agent.ports import Checked, Verifier
from agent.rules.anchors import CONTROL, Anchor, Break, Head
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


async def verify(
    verifier: Verifier, run_id: RunId | None = None, anchor: Anchor | None = None
) -> Verified:
    """Check one run, or all of them and the control journal; facts are read in pages. With ``anchor``
    also whether they hold what they held then. Raises ``NotFound`` for a run of which nothing is known.
    """
    anchored = {head.journal: head for head in anchor.heads} if anchor else {}
    if run_id is not None:
        return _sum_up([await _check_run(verifier, run_id, anchored.get(run_id))])
    known_control = anchored.pop(CONTROL, None)
    checked = [await verifier.check_control(known_control)]
    async for one in verifier.runs():
        checked.append(await _check_run(verifier, one, anchored.pop(one, None)))
    gone = {one.head.journal for one in checked if one.purged_at is not None}
    async for buried in verifier.check_tombstones(anchored):
        anchored.pop(buried.head.journal, None)
        # Some of the runs may have gone while they were looked at.
        if buried.head.journal not in gone:
            checked.append(buried)
    async for orphan in verifier.orphans():
        anchored.pop(orphan, None)
        checked.append(_lost(orphan, "there are facts, and no row that says where the run stands"))
    known = {one.broken.journal for one in checked if one.broken is not None}
    async for gap in verifier.missing():
        if gap.journal not in known:
            known.add(gap.journal)
            anchored.pop(gap.journal, None)
            checked.append(_missing(gap))
    checked += [
        _lost(head.journal, f"all of it is missing: the anchor knows of {head.seq} facts")
        for head in anchored.values()
    ]
    since = 0 if known_control is None else await verifier.removed_behind(known_control.seq)
    return replace(_sum_up(checked), removed_since=since)


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
        return _lost(run_id, f"all of it is missing: the anchor knows of {anchored.seq} facts")


def _lost(journal: str, why: str) -> Checked:
    return Checked(Head(journal=journal, seq=0, hash=""), Break(journal, 0, why))


def _missing(gap: Break) -> Checked:
    return Checked(Head(journal=gap.journal, seq=0, hash=""), gap)


def _sum_up(checked: list[Checked]) -> Verified:
    there = [one for one in checked if one.purged_at is None]
    return Verified(
        runs=sum(one.head.journal != CONTROL for one in there),
        facts=sum(one.head.seq for one in there),
        partly_removed=sum(one.is_partly_removed for one in there),
        purged=len(checked) - len(there),
        breaks=tuple(one.broken for one in checked if one.broken is not None),
        heads=tuple(one.head for one in checked if one.broken is None),
    )
