"""``approve``, ``deny``, ``steer``, ``answer``, ``settle``, ``ask-again``: decide, then follow the run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.granting import Scope, wish_of
from bot.cli.options import ApprovalArgument, AsJson, By, one_of
from bot.cli.running import finish, work_on
from bot.cli.session import operator, with_store

if TYPE_CHECKING:
    from decimal import Decimal

    from agent.rules.decisions import Decider, Decision
    from agent.rules.state import Approval, RunState
    from bot.compose import Opened


class Outcome(StrEnum):
    """What became of an unknown effect."""

    HAPPENED = "happened"
    NOT_HAPPENED = "not-happened"
    CHECK = "check"
    GIVE_UP = "give-up"


def approve(
    approval: ApprovalArgument,
    note: Annotated[str | None, typer.Option(help="Kept with the decision.")] = None,
    more: Annotated[
        str | None, typer.Option(metavar="N", help="Of a budget: how much more it may use.")
    ] = None,
    also_for: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="|".join(Scope),
            help="Allow the same call again without asking: in its run, or thread.",
        ),
    ] = None,
    lasts: Annotated[
        str | None, typer.Option(metavar="2h", help="With --for: for so long, and no longer.")
    ] = None,
    any_arguments: Annotated[
        bool, typer.Option("--any-arguments", help="With --for: whatever its values are.")
    ] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Let it happen as it was shown; of a budget, let the run go on."""
    from agent.rules.decisions import Approve

    allowed = None if more is None else _amount(more)
    scope = None if also_for is None else one_of(Scope, also_for, "--for")
    grant = wish_of(scope, lasts, any_arguments=any_arguments)
    _decide(
        approval,
        lambda asked: Approve(note, _of_budget(asked, allowed), grant),
        by=by,
        as_json=as_json,
    )


def deny(
    approval: ApprovalArgument,
    reason: Annotated[
        str | None, typer.Option(help="Told to the agent; only a budget does without.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Never let it happen; the agent is told the reason. Of a budget, stop the run."""
    if reason is not None and not reason.strip():
        raise typer.BadParameter(_SAY_WHY, param_hint="--reason")
    from agent.rules.decisions import Deny

    _decide(approval, lambda asked: Deny(_why(asked, reason)), by=by, as_json=as_json)


def steer(
    approval: ApprovalArgument,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Again for each value.")
    ] = None,
    guidance: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the agent is to do instead.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Change its values, or tell the agent what to do instead."""
    from agent.rules.decisions import Steer

    changes = _changes(set_ or [])
    if bool(changes) == bool(guidance):
        raise typer.BadParameter("Give --set or --guidance, one of them.")
    _decide(
        approval,
        lambda asked: Steer(_typed(changes, asked) if changes else None, guidance),
        by=by,
        as_json=as_json,
    )


def answer(
    approval: ApprovalArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One of its options, or your words.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question of the agent's."""
    if not text.strip():
        raise typer.BadParameter("Say something.", param_hint="TEXT")
    from agent.rules.decisions import Answer

    _decide(approval, lambda _: Answer(text), by=by, as_json=as_json)


def settle(
    approval: ApprovalArgument,
    outcome: Annotated[
        str,
        typer.Argument(
            metavar="OUTCOME", help="What became of it: happened, not-happened, check or give-up."
        ),
    ],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Say what became of an effect that nobody knows of."""
    chosen = one_of(Outcome, outcome, "OUTCOME")
    from agent.rules.decisions import Settle
    from agent.rules.parts import SettleOutcome

    outcomes: Mapping[Outcome, SettleOutcome] = {
        Outcome.HAPPENED: "happened",
        Outcome.NOT_HAPPENED: "not_happened",
        Outcome.CHECK: "check",
        Outcome.GIVE_UP: "give_up",
    }
    _decide(approval, lambda _: Settle(outcomes[chosen]), by=by, as_json=as_json)


def ask_again(approval: ApprovalArgument, by: By = None, as_json: AsJson = False) -> None:
    """Have what nobody decided in time asked once more."""

    async def ask(house: Opened) -> int:
        from agent.errors import ApprovalCancelled, RunEnded
        from agent.rules.decisions import Decider
        from agent.rules.ids import ApprovalId

        expired, state = await house.runtime.approval(ApprovalId(approval))
        decider = Decider(operator(), authority="operator")
        if by is not None:
            decider = await house.person(by, expired, state.requester, claimed_by=operator())
        try:
            await house.runtime.ask_again(expired.id, decider)
        except (ApprovalCancelled, RunEnded):
            # Where that it was over is its no, or stops the run, the run may only now have heard of it.
            await work_on(house, state.run_id, after=state.seq, as_json=as_json)
            raise
        return await finish(house, state.run_id, after=state.seq, as_json=as_json)

    with_store(ask)


def _decide(approval_id: str, decision: Decided, *, by: str | None, as_json: bool) -> None:
    async def decide(house: Opened) -> int:
        from agent.errors import ApprovalExpired
        from agent.rules.ids import ApprovalId

        asked = await house.runtime.approval(ApprovalId(approval_id))
        approval, state = asked
        wanted = decision(asked)
        decider = await _decider(house, asked, wanted, by)
        try:
            await house.runtime.decide(approval.id, wanted, decider)
        except ApprovalExpired:
            # Where no other process is there to note that it was over, nobody could have it asked again.
            await work_on(house, state.run_id, after=state.seq, as_json=as_json)
            raise
        return await finish(house, state.run_id, after=state.seq, as_json=as_json)

    with_store(decide)


async def _decider(house: Opened, asked: Asked, decision: Decision, by: str | None) -> Decider:
    """The operator themself, or the person whom they name, looked up as for a click. Raises
    ``NotAllowed`` for whom Slack does not confirm; that is recorded like any refusal."""
    from agent.errors import NotAllowed
    from agent.rules.decisions import Decider
    from agent.rules.ids import Principal

    if by is None:
        return Decider(operator(), authority="operator")
    approval, state = asked
    try:
        return await house.person(by, approval, state.requester, claimed_by=operator())
    except NotAllowed as refused:
        # Which workspace they belong to is what Slack did not say.
        named = Decider(Principal(f"slack:?:{by}"), by, claimed_by=operator())
        await house.runtime.record_refusal(state.run_id, decision, named, refused)
        raise


_SAY_WHY = "Say why; the agent is told."


def _why(asked: Asked, reason: str | None) -> str | None:
    """Only a budget is denied without a word: nobody is left to be told. Raises ``InvalidArgs``."""
    from agent.errors import InvalidArgs

    approval, _ = asked
    if reason is None and approval.kind != "budget":
        raise InvalidArgs(approval.id, {"--reason": _SAY_WHY})
    return reason


def _amount(text: str) -> Decimal:
    from agent.rules.amounts import read_amount

    amount = read_amount(text)
    if amount is None:
        raise typer.BadParameter(
            "Give a number above nothing, such as 20 or 1.50.", param_hint="--more"
        )
    return amount


def _of_budget(asked: Asked, more: Decimal | None) -> Decimal | None:
    """Only a budget takes more. Raises ``InvalidArgs``."""
    from agent.errors import InvalidArgs

    approval, _ = asked
    if more is not None and approval.kind != "budget":
        raise InvalidArgs(approval.id, {"more": "Only a budget takes it."})
    return more


def _changes(given: list[str]) -> dict[str, str]:
    changes: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"{one!r} is not NAME=VALUE.", param_hint="--set")
        if name in changes:
            raise typer.BadParameter(f"{name} is given twice.", param_hint="--set")
        changes[name] = value
    return changes


def _typed(changes: Mapping[str, str], asked: Asked) -> dict[str, Any]:
    """The values as the tool's schema has them. Raises ``InvalidArgs``."""
    from agent.errors import InvalidArgs
    from agent.rules.typed_values import read_value
    from agent.rules.values import describe_fields

    approval, state = asked
    if approval.requested.call_id is None:
        return dict(changes)  # The runtime says what a budget takes.
    fields = {
        field.name: field
        for field in describe_fields(state.call(approval.requested.of_call).parameters)
    }
    values: dict[str, Any] = {}
    for name, text in changes.items():
        try:
            values[name] = read_value(text, fields[name]) if name in fields else text
        except ValueError as error:
            raise InvalidArgs(approval.id, {name: str(error)}) from error
    return values


if TYPE_CHECKING:
    from collections.abc import Callable

    Asked = tuple[Approval, RunState]
    Decided = Callable[[Asked], Decision]
