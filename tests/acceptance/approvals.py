"""An auditor of its own: who let each effect happen? Read from the journals' JSON alone.

It knows nothing of our fold, our policy or our types: it is here to disagree with them. A journal is a list of
rows, ``{"run_id", "seq", "at", "event"}``, as the store keeps them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import rfc8785

Json = dict[str, Any]


@dataclass
class Question:
    """An approval, and what people have said to it."""

    asked: Json
    approvers: Json
    yeses: list[Json] = field(default_factory=list)
    decided: Json | None = None
    decided_at: datetime | None = None
    #: Why nothing may be decided any more.
    closed: str = ""
    used: bool = False
    waits: list[Json] = field(default_factory=list)


@dataclass
class Call:
    judged: Json = field(default_factory=dict)
    preview: str | None = None
    #: Its newest approval that asks whether it may happen.
    question: str | None = None
    starts: int = 0
    #: Nothing says since its last start that it did not happen.
    is_open: bool = False


def violations(
    journals: Iterable[Sequence[Json]], groups: Mapping[str, Iterable[str]] | None = None
) -> list[str]:
    """What must never be, one sentence each; ``groups`` says who is in them, where that is known."""
    members = None if groups is None else {name: set(users) for name, users in groups.items()}
    told = [list(journal) for journal in journals]
    grants = {
        row["event"]["grant"]
        for journal in told
        for row in journal
        if row["event"]["kind"] == "approval_decided" and row["event"].get("grant")
    }
    return [fault for journal in told for fault in _Audit(members, grants).of(journal)]


@dataclass
class _Audit:
    """Of one run."""

    groups: Mapping[str, set[str]] | None
    grants: set[str]
    requester: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)

    def of(self, journal: Sequence[Json]) -> Iterator[str]:
        for row in journal:
            event, at = row["event"], datetime.fromisoformat(row["at"])
            for fault in self._heard(event, at):
                yield f"{row['run_id']} at {row['seq']}: {fault}"

    def _heard(self, event: Json, at: datetime) -> Iterator[str]:
        match event["kind"]:
            case "run_started":
                self.requester = event["requester"]
            case "call_judged":
                call = self.calls.setdefault(event["call_id"], Call())
                call.judged, call.preview = event, None
            case "call_previewed":
                self.calls[event["call_id"]].preview = event["preview"]
            case "approval_requested":
                self._asked(event)
            case "approval_expired":
                self.questions[event["approval_id"]].closed = "nobody had decided it in time"
            case "approval_escalated":
                self._escalated(event)
            case "approval_voted":
                yield from self._said(event, at)
                self.questions[event["approval_id"]].yeses.append(event)
            case "approval_decided":
                yield from self._decided(event, at)
            case "call_looked_up":
                self.calls[event["call_id"]].is_open = False
            case "call_started":
                yield from self._started(event, at)

    def _asked(self, event: Json) -> None:
        if (old := event.get("supersedes")) in self.questions:
            self.questions[old].closed = "it was superseded"
        waits = list((event.get("patience") or {}).get("escalate", ()))
        self.questions[event["approval_id"]] = Question(
            event, dict(event["approvers"]), waits=waits
        )
        if event["approval_kind"] == "call":
            self.calls[event["call_id"]].question = event["approval_id"]

    def _escalated(self, event: Json) -> None:
        question = self.questions[event["approval_id"]]
        also = question.waits[event["stage"] - 1]
        for who in ("users", "groups"):
            question.approvers[who] = [*question.approvers[who], *also[who]]

    def _decided(self, event: Json, at: datetime) -> Iterator[str]:
        question = self.questions[event["approval_id"]]
        if question.decided is not None:
            yield f"{event['approval_id']} was decided twice"
            return
        yield from self._said(event, at)
        question.decided, question.decided_at = event, at
        if event["action"] == "settle" and event["outcome"] == "not_happened":
            self.calls[question.asked["call_id"]].is_open = False

    def _said(self, event: Json, at: datetime) -> Iterator[str]:
        """Whoever says anything must be one who may, while it may be said."""
        question, name = self.questions[event["approval_id"]], event["approval_id"]
        until = question.asked.get("expires_at")
        if question.closed:
            yield f"{name} was decided, though {question.closed}"
        if until is not None and at >= datetime.fromisoformat(until):
            yield f"{name} was decided after its expiry"
        if (why := self._why_not(event, question)) is not None:
            yield f"{name}: {event['by']} {why}"

    def _why_not(self, event: Json, question: Question) -> str | None:
        kind = event["by"].split(":")[0]
        match event.get("authority", "listed"):
            case "operator":
                return None if kind == "cli" else "is no operator"
            case "code":
                return None if kind == "code" else "is no code"
        approvers, user = question.approvers, event.get("user") or event["by"].split(":")[-1]
        if not event["by"].endswith(f":{user}"):
            return f"is not {user}"
        if event["by"] == self.requester and not approvers["requester"]:
            return "asked for the run, and may not decide it"
        if event["by"] == self.requester and question.asked["approval_kind"] == "question":
            return None
        if user in approvers["users"] or self._groups(event, approvers):
            return None
        return "is nobody who may decide it"

    def _groups(self, event: Json, approvers: Json) -> set[str]:
        """Those for which they speak."""
        user = event.get("user") or event["by"].split(":")[-1]
        asked = {*approvers["groups"], *approvers.get("one_from_each", ())}
        # The oldest journals do not say.
        theirs = asked & set(event.get("groups", asked))
        if self.groups is None:
            return theirs
        return {name for name in theirs if user in self.groups.get(name, ())}

    def _started(self, event: Json, at: datetime) -> Iterator[str]:
        call, name = self.calls[event["call_id"]], event["call_id"]
        effect = event.get("effect") or call.judged["effect"]
        if effect == "once" and call.is_open:
            yield f"{name} was begun again, and nothing says that it had not happened"
        call.is_open = True
        verdict = call.judged["verdict"]
        if effect == "read" or verdict["action"] == "allow":
            return
        if grant := event.get("grant"):
            if grant not in self.grants:
                yield f"{name} was begun under {grant}, which nobody gave"
            return
        question = self.questions.get(call.question or "")
        if question is None or (question.decided or {}).get("action") != "approve":
            yield f"{name} was begun, and nobody had said yes to it"
            return
        yield from self._covered(name, call, question, at)

    def _covered(self, name: str, call: Call, question: Question, at: datetime) -> Iterator[str]:
        """Does this yes cover this start?"""
        yes = question.asked["approval_id"]
        judged, hash = call.judged, question.asked["hash"]
        bound = {
            "tool": question.asked["tool"],
            "schema": judged["schema_digest"],
            "args": judged["args"],
            "preview": question.asked["preview"],
        }
        if hashlib.sha256(rfc8785.dumps(bound)).hexdigest() != hash:
            yield f"{name} was begun as something else than {yes} said yes to"
        if question.closed:
            yield f"{name} was begun by {yes}, though {question.closed}"
        if not self._is_enough(question):
            yield f"{name} was begun by {yes}, which had too few yeses"
        good_for = judged["verdict"].get("valid_for")
        decided_at = question.decided_at
        if good_for and decided_at is not None and at > decided_at + _length(good_for):
            yield f"{name} was begun by {yes}, which was too old by then"

    def _is_enough(self, question: Question) -> bool:
        """So many different people, and for each group that must speak somebody else of it."""
        decided = question.decided
        if decided is None:
            return False
        if decided.get("authority", "listed") != "listed":
            return True
        left_out = set(decided.get("not_counted", ()))
        words = {one["by"]: one for one in (*question.yeses, decided) if one["by"] not in left_out}
        each = list(question.approvers.get("one_from_each", ()))
        spoken = [self._groups(word, question.approvers) for word in words.values()]
        needed = max(question.approvers.get("count", 1), len(each))
        return len(words) >= needed and _each_has_one(each, spoken)


def _each_has_one(groups: list[str], spoken: list[set[str]]) -> bool:
    """Can each group be given somebody of its own?"""
    if not groups:
        return True
    first, rest = groups[0], groups[1:]
    return any(
        first in theirs and _each_has_one(rest, spoken[:number] + spoken[number + 1 :])
        for number, theirs in enumerate(spoken)
    )


def _length(written: str) -> timedelta:
    """``PT1H30M``, ``P1DT2S``."""
    days, _, times = written.removeprefix("P").partition("T")
    total, number = timedelta(), ""
    units = {"D": "days", "H": "hours", "M": "minutes", "S": "seconds"}
    for sign in days + times:
        if sign in units:
            total += timedelta(**{units[sign]: float(number)})
            number = ""
        else:
            number += sign
    return total
