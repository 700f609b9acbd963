"""An auditor of its own: who let each effect happen? Read from the journals' JSON alone.

It knows nothing of our fold, our policy or our types: it is here to disagree with them. A journal is a list of
rows, ``{"run_id", "seq", "at", "event"}``, as the store keeps them. What the policy said is taken as it was written:
a verdict that was changed to "allow" is for the chain of hashes to find.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import rfc8785

from tests.acceptance.consents import Consent, Json, Use, consents_of, why_not_under

_ENDS = ("run_finished", "run_failed", "run_cancelled")
_HELD = "the run was held"


@dataclass
class Question:
    """An approval, and what people have said to it."""

    asked: Json
    approvers: Json
    #: Each with its time; the decision is the last.
    yeses: list[tuple[Json, datetime]] = field(default_factory=list)
    decided: Json | None = None
    #: Why nothing may be decided any more.
    closed: str = ""
    waits: list[Json] = field(default_factory=list)


@dataclass
class Call:
    tool: str = ""
    judged: Json = field(default_factory=dict)
    preview: str | None = None
    #: Its newest approval that asks whether it may happen.
    question: str | None = None
    #: Nothing says since its last start that it did not happen.
    is_open: bool = False


def violations(
    journals: Iterable[Sequence[Json]],
    groups: Mapping[str, Iterable[str]] | None = None,
    control: Iterable[Json] = (),
) -> list[str]:
    """What must never be, one sentence each; ``groups`` says who is in them, where that is known; ``control`` is
    the control journal, in rows of the same form."""
    members = None if groups is None else {name: set(users) for name, users in groups.items()}
    told, consents = [list(journal) for journal in journals], consents_of(control)
    yeses = {
        (event["grant"], event["by"])
        for event in (row["event"] for journal in told for row in journal)
        if event["kind"] == "approval_decided" and event["action"] == "approve"
        if event.get("grant")
    }
    given = {
        name: one
        for name, one in consents.items()
        if one.given["authority"] == "operator" or (name, one.given["by"]) in yeses
    }
    return [fault for journal in told for fault in _Audit(members, given).of(journal)]


@dataclass
class _Audit:
    """Of one run."""

    groups: Mapping[str, set[str]] | None
    consents: Mapping[str, Consent]
    run_id: str = ""
    started: Json = field(default_factory=dict)
    #: Why nothing may begin, for now or for good.
    is_still: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)

    def of(self, journal: Sequence[Json]) -> Iterator[str]:
        for row in journal:
            event, at = row["event"], datetime.fromisoformat(row["at"])
            self.run_id = row["run_id"]
            self._moved(event["kind"])
            for fault in self._heard(event, at):
                yield f"{row['run_id']} at {row['seq']}: {fault}"

    def _moved(self, kind: str) -> None:
        """A run that is to end does not go on by being resumed."""
        if kind in _ENDS:
            self.is_still = "the run had ended"
        elif kind == "stop_requested":
            self.is_still = "the run was to stop"
        elif kind == "run_held" and not self.is_still:
            self.is_still = _HELD
        elif kind == "run_reopened" or (kind, self.is_still) == ("run_resumed", _HELD):
            self.is_still = ""

    def _heard(self, event: Json, at: datetime) -> Iterator[str]:
        match event["kind"]:
            case "run_started":
                self.started = event
            case "model_replied":
                for one in event["calls"]:
                    self.calls[one["call_id"]] = Call(one["tool"])
            case "call_judged":
                call = self.calls[event["call_id"]]
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
                self.questions[event["approval_id"]].yeses.append((event, at))
            case "approval_decided":
                yield from self._decided(event, at)
            case "call_looked_up":
                self.calls[event["call_id"]].is_open = False
            case "call_started":
                yield from self._started(event, at)

    def _asked(self, event: Json) -> None:
        old = self.questions.get(event.get("supersedes") or "")
        # A yes that was given stands behind the review of what it let happen.
        if old is not None and old.decided is None:
            old.closed = "it was superseded"
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
        yield from self._said(event, at)
        question = self.questions[event["approval_id"]]
        if question.decided is not None:
            return
        question.decided = event
        question.yeses.append((event, at))
        if event["action"] == "settle" and event["outcome"] == "not_happened":
            self.calls[question.asked["call_id"]].is_open = False

    def _said(self, event: Json, at: datetime) -> Iterator[str]:
        """Whoever says anything must be one who may, while it may be said."""
        question, name = self.questions[event["approval_id"]], event["approval_id"]
        until = question.asked.get("expires_at")
        if question.decided is not None:
            yield f"{name} was decided twice"
        if question.closed:
            yield f"{name} was decided, though {question.closed}"
        if self.is_still not in ("", _HELD) and question.asked["approval_kind"] != "review":
            yield f"{name} was decided, though {self.is_still}"
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
        approvers, user = question.approvers, _user(event)
        if event["by"] != f"slack:{self._team(event)}:{user}":
            return f"is not {user} of here"
        requester = self.started["requester"]
        if event["by"] == requester and not approvers["requester"]:
            return "asked for the run, and may not decide it"
        if event["by"] == requester and question.asked["approval_kind"] == "question":
            return None
        if user in approvers["users"] or self._groups(event, approvers):
            return None
        return "is nobody who may decide it"

    def _team(self, event: Json) -> str:
        """The workspace that the run is of; of one that began elsewhere, whoever speaks may be of any."""
        kind, *team = self.started["requester"].split(":")
        return str(team[0] if kind == "slack" else event["by"].split(":")[1])

    def _groups(self, event: Json, approvers: Json) -> set[str]:
        """Those for which they speak."""
        each = approvers.get("one_from_each", ())
        asked = {*approvers["groups"], *each}
        # The oldest journals don't say who spoke for which; there one yes was always enough.
        is_of_the_oldest = event.keys().isdisjoint({"user", "groups"})
        unsaid = asked if is_of_the_oldest and not each and approvers.get("count", 1) == 1 else ()
        theirs = asked & set(event.get("groups", unsaid))
        if self.groups is None:
            return theirs
        return {name for name in theirs if _user(event) in self.groups.get(name, ())}

    def _started(self, event: Json, at: datetime) -> Iterator[str]:
        call, name = self.calls[event["call_id"]], event["call_id"]
        if self.is_still:
            yield f"{name} was begun, though {self.is_still}"
        effect = event.get("effect") or call.judged["effect"]
        if effect == "once" and call.is_open:
            yield f"{name} was begun again, and nothing says that it had not happened"
        call.is_open = True
        verdict = call.judged["verdict"]
        if grant := event.get("grant") or verdict.get("grant"):
            yield from self._granted(grant, name, call, at)
            return
        if verdict["action"] == "allow":
            return
        question = self.questions.get(call.question or "")
        if question is None or (question.decided or {}).get("action") != "approve":
            yield f"{name} was begun, and nobody had said yes to it"
            return
        yield from self._covered(name, call, question, at)

    def _granted(self, grant: str, name: str, call: Call, at: datetime) -> Iterator[str]:
        """Does this grant cover this start?"""
        consent, run = self.consents.get(grant), self.started
        if consent is None:
            yield f"{name} was begun under {grant}, which nobody gave"
            return
        args, agent, session = call.judged["args"], run["agent"], run["session"]
        use = Use(self.run_id, session, agent, call.tool, args, at)
        if why := why_not_under(consent, use):
            yield f"{name} was begun under {grant}, which {why}"
        asks = Question({"approval_kind": "call"}, call.judged["verdict"]["approvers"])
        if (why := self._why_not(consent.given, asks)) is not None:
            yield f"{name} was begun under {grant}: {consent.given['by']} {why}"
        elif not self._is_enough(asks, [consent.given]):
            yield f"{name} was begun under {grant}, which had too few yeses"

    def _covered(self, name: str, call: Call, question: Question, at: datetime) -> Iterator[str]:
        """Does this yes cover this start?"""
        yes = question.asked["approval_id"]
        judged, hash = call.judged, question.asked["hash"]
        bound = {
            "tool": call.tool,
            "schema": judged["schema_digest"],
            "args": judged["args"],
            "preview": question.asked["preview"],
        }
        if hashlib.sha256(rfc8785.dumps(bound)).hexdigest() != hash:
            yield f"{name} was begun as something else than {yes} said yes to"
        if question.closed:
            yield f"{name} was begun by {yes}, though {question.closed}"
        if judged.get("preview_must_match") and call.preview != question.asked["preview"]:
            yield f"{name} was begun by {yes}, and would have done something else by then"
        if not self._is_enough(question, [word for word, _ in question.yeses]):
            yield f"{name} was begun by {yes}, which had too few yeses"
        elif good_for := judged["verdict"].get("valid_for"):
            since = at - length_of(good_for)
            if not self._is_enough(
                question, [word for word, said in question.yeses if said >= since]
            ):
                yield f"{name} was begun by {yes}, which was too old by then"

    def _is_enough(self, question: Question, yeses: Sequence[Json]) -> bool:
        """So many different people, and for each group that must speak somebody else of it."""
        if any(one.get("authority", "listed") != "listed" for one in yeses):
            return True
        left_out = set((question.decided or {}).get("not_counted", ()))
        words = {one["by"]: one for one in yeses if one["by"] not in left_out}
        each = list(question.approvers.get("one_from_each", ()))
        spoken = [self._groups(word, question.approvers) for word in words.values()]
        needed = max(question.approvers.get("count", 1), len(each))
        return len(words) >= needed and _each_has_one(each, spoken)


def _user(event: Json) -> str:
    return str(event.get("user") or event["by"].split(":")[-1])


def _each_has_one(groups: list[str], spoken: list[set[str]]) -> bool:
    """Can each group be given somebody of its own?"""
    if not groups:
        return True
    first, rest = groups[0], groups[1:]
    return any(
        first in theirs and _each_has_one(rest, spoken[:number] + spoken[number + 1 :])
        for number, theirs in enumerate(spoken)
    )


def length_of(written: str) -> timedelta:
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
