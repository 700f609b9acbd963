"""Standing consent: what somebody who may decide allows beforehand, for a while, and whether it covers a call.

A grant is for exactly the arguments that were approved, unless whoever gives it says that any will do. It holds
only where the rule that would ask still allows grants of that kind and that length, and still counts its giver
as one whose yes alone is enough: a rule that has grown stricter is asked. What was denied in a run is asked
again there, whatever stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from pydantic import JsonValue

from agent.errors import InvalidArgs
from agent.rules.binding import digest
from agent.rules.calls import Call
from agent.rules.consent import denials_of, is_enough
from agent.rules.control import GrantGiven
from agent.rules.durations import LONGEST, show_duration
from agent.rules.ids import GrantId
from agent.rules.judgement import Judgement
from agent.rules.parts import Approvers, Granting, GrantScope, Verdict, Word
from agent.rules.standing import Grant
from agent.rules.state import Approval, RunState

_SCOPES: Mapping[GrantScope, str] = {"run": "for its run", "thread": "for its conversation"}


@dataclass(frozen=True, slots=True)
class GrantWish:
    """What somebody wants to allow with their yes to one call."""

    scope: GrantScope
    #: For so long; None: for as long as the rule allows.
    lasts: timedelta | None = None
    #: Whatever the arguments are; otherwise exactly those that are approved.
    any_arguments: bool = False


def give(
    state: RunState,
    approval: Approval,
    wish: GrantWish,
    word: Word,
    *,
    now: datetime,
    grant_id: GrantId,
    reason: str | None = None,
) -> GrantGiven:
    """The consent that ``word`` gives with a yes to this approval. Raises ``InvalidArgs``."""
    asked = approval.requested
    if asked.dry_run:
        raise InvalidArgs(approval.id, {"grant": "In a dry run nothing is allowed beforehand."})
    verdict = state.call(asked.of_call).verdict if asked.call_id else None
    granting = verdict.granting if verdict else None
    if why := _why_not(granting, wish, approval.approvers, state, word):
        raise InvalidArgs(approval.id, {"grant": why})
    lasts = wish.lasts or (granting.longest if granting else None)
    return GrantGiven(
        grant_id=grant_id,
        by=word.by,
        claimed_by=word.claimed_by,
        user=word.user,
        groups=word.groups,
        authority=word.authority,
        agent=state.agent,
        tool=asked.tool,
        where={} if wish.any_arguments else dict(asked.args),
        run_id=state.run_id if wish.scope == "run" else None,
        session=state.session if wish.scope == "thread" else None,
        expires_at=now + lasts if lasts else None,
        reason=reason or "",
    )


def under_grant(
    judgement: Judgement, grants: Iterable[Grant], state: RunState, now: datetime
) -> Judgement:
    """The same, allowed by the first grant that covers it, which it names then."""
    if judgement.verdict.action != "ask" or judgement.is_question:
        return judgement
    for grant in grants:
        if covers(grant, judgement, state, now):
            return judgement.allowed_by(grant.id)
    return judgement


def covers(grant: Grant, judgement: Judgement, state: RunState, now: datetime) -> bool:
    """Does the consent hold for this call, as the policy judges it now?"""
    given, verdict = grant.given, judgement.verdict
    return (
        grant.revoked_seq is None
        and (given.expires_at is None or now < given.expires_at)
        and is_about(given, judgement.tool, judgement.args, state)
        and _is_still_allowed(grant, verdict, now)
        and is_enough(verdict.approvers, state.requesters, [word_of(given)])
        # An exact no beats a standing yes.
        and not denials_of(state, judgement.tool, judgement.args)
    )


def is_about(given: GrantGiven, tool: str, args: Mapping[str, JsonValue], state: RunState) -> bool:
    """Is it for such a call of such a run, whether it holds or not?"""
    is_for_tool = (given.agent, given.tool) == (state.agent, tool)
    return is_for_tool and _is_for(given, state) and _fits(given.where, args)


def word_of(given: GrantGiven) -> Word:
    """Who gave it, and why they might."""
    return Word(
        by=given.by,
        claimed_by=given.claimed_by,
        user=given.user,
        groups=given.groups,
        authority=given.authority,
    )


def what_is_no_wish(wish: object) -> str | None:
    """Why it can't be meant, whatever a rule allows; None where it can, and where nothing is wished for."""
    if wish is None:
        return None
    if not isinstance(wish, GrantWish) or wish.scope not in get_args(GrantScope):
        return "Say where it is to hold: in its run, or thread."
    any_arguments: object = wish.any_arguments
    if not isinstance(any_arguments, bool):
        return "Say whether any arguments will do: yes or no."
    lasts: object = wish.lasts
    if lasts is None:
        return None
    if not isinstance(lasts, timedelta):
        return "Say for how long, as a length of time."
    if lasts <= timedelta():
        return "Say for how long, as more than no time at all."
    return f"Say at most {show_duration(LONGEST)}." if lasts > LONGEST else None


def _why_not(
    granting: Granting | None, wish: GrantWish, approvers: Approvers, state: RunState, word: Word
) -> str | None:
    if granting is None:
        return "Its rule allows no grant."
    if wish.scope not in granting.scopes:
        allowed = " or ".join(_SCOPES[scope] for scope in granting.scopes)
        return f"Its rule allows a grant only {allowed}."
    if wish.lasts is not None and granting.longest is not None and wish.lasts > granting.longest:
        most = show_duration(granting.longest)
        return f"Its rule allows a grant for {most} at most."
    if not is_enough(approvers, state.requesters, [word]):
        return "It takes more than your yes, and so no grant."
    return None


def _is_for(given: GrantGiven, state: RunState) -> bool:
    """A grant for neither is for the agent wherever it works."""
    if given.run_id is not None:
        return given.run_id == state.run_id
    return given.session is None or given.session == state.session


def _fits(where: Mapping[str, JsonValue], args: Mapping[str, JsonValue]) -> bool:
    """As JSON: what is 1 there is not true."""
    return all(
        name in args and digest(args[name]) == digest(value) for name, value in where.items()
    )


def _is_still_allowed(grant: Grant, verdict: Verdict, now: datetime) -> bool:
    granting = verdict.granting
    if granting is None:
        return False
    scope: GrantScope | None = (
        "run" if grant.given.run_id else "thread" if grant.given.session else None
    )
    if scope is not None and scope not in granting.scopes:
        return False
    return granting.longest is None or now - grant.at < granting.longest


def grant_of(call: Call) -> GrantId | None:
    """The standing consent that spared people being asked about a call that was begun."""
    if call.verdict is None or call.approved_id is not None or not call.attempts:
        return None
    return call.verdict.grant
