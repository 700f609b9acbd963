"""Rate limits: only on request, as Slack words them, and forgiven to who waits."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.clock import Clock
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.rates import FAST, MESSAGE_BURST, MESSAGES_A_MINUTE, Rates, Refused, Tier
from tests.sandbox.driving import MOMENT, client_of


def test_a_tier_is_so_many_calls_in_any_minute() -> None:
    clock = Clock(MOMENT)
    rates = Rates(clock, "real")
    for _ in range(10):
        assert rates.ask("usergroups.users.list", Tier.T2) is None
    clock.forward(30)
    for _ in range(10):
        assert rates.ask("usergroups.users.list", Tier.T2) is None
    assert rates.ask("usergroups.users.list", Tier.T2) == Refused(30)
    assert rates.ask("usergroups.list", Tier.T2) is None, "another method has its own count"
    clock.forward(30)
    for _ in range(10):
        assert rates.ask("usergroups.users.list", Tier.T2) is None
    assert rates.ask("usergroups.users.list", Tier.T2) == Refused(30)


def test_who_asks_again_before_time_knew_better_and_who_waits_did_not() -> None:
    clock = Clock(MOMENT)
    rates = Rates(clock, "real")
    rates.ask("x", Tier.T1)
    assert rates.ask("x", Tier.T1) == Refused(60)
    assert rates.ask("x", Tier.T1) == Refused(60, knew=False), "this one was on its way already"
    clock.forward(59)
    assert rates.ask("x", Tier.T1) == Refused(1, knew=True)
    clock.forward(1)
    assert rates.ask("x", Tier.T1) is None


def test_messages_come_one_a_second_a_channel_after_a_burst() -> None:
    clock = Clock(MOMENT)
    rates = Rates(clock, "real")

    def post(channel: str) -> Refused | None:
        return rates.ask("chat.postMessage", Tier.SPECIAL, channel)

    assert [post("C1") for _ in range(MESSAGE_BURST)] == [None] * MESSAGE_BURST
    assert post("C1") == Refused(MESSAGE_BURST)
    assert post("C2") is None
    clock.forward(MESSAGE_BURST)
    for _ in range(10):
        assert post("C1") is None
        clock.forward(1)
    others = [post(f"C{number}") for number in range(3, MESSAGES_A_MINUTE + 3)]
    assert others[-1] is not None, "the workspace has a limit of its own"


def test_sped_up_a_minute_is_over_sooner() -> None:
    clock = Clock(MOMENT)
    rates = Rates(clock, "fast")
    rates.ask("x", Tier.T1)
    assert rates.ask("x", Tier.T1) == Refused(round(60 / FAST))
    clock.forward(60 / FAST)
    assert rates.ask("x", Tier.T1) is None


def test_without_limits_nobody_is_refused_unless_a_fault_says_so() -> None:
    rates = Rates(Clock(MOMENT))
    assert [rates.ask("x", Tier.T1) for _ in range(1000)] == [None] * 1000
    rates.refuse("x", 3)
    assert rates.ask("x", Tier.NONE) == Refused(3)
    rates.forgive()
    assert rates.ask("x", Tier.NONE) is None


@pytest.mark.sandbox(rates="real", clock=MOMENT)
async def test_an_obeyed_429_breaks_no_rule(sandbox: OpenSandbox) -> None:
    slack = client_of(sandbox)
    for _ in range(MESSAGE_BURST):
        await slack.chat_postMessage(channel="#ops", text="x")
    with pytest.raises(SlackApiError) as error:
        await slack.chat_postMessage(channel="C0OPS", text="x")
    assert error.value.response.status_code == 429
    assert error.value.response["error"] == "ratelimited"
    wait = int(error.value.response.headers["Retry-After"])
    assert len(sandbox.messages("C0OPS")) == MESSAGE_BURST, "nothing was done"
    sandbox.clock.forward(wait)
    await slack.chat_postMessage(channel="C0OPS", text="x")
    sandbox.assert_no_violations()


@pytest.mark.sandbox(clock=MOMENT, allow_violations=True)
async def test_a_call_before_its_retry_after_is_a_violation(sandbox: OpenSandbox) -> None:
    slack = client_of(sandbox)
    sandbox.faults.add(method="chat.postMessage", ratelimited=True, retry_after=2)
    for step, violations in ((0.0, 0), (1.0, 1)):
        sandbox.clock.forward(step)
        with pytest.raises(SlackApiError) as error:
            await slack.chat_postMessage(channel="C0OPS", text="x")
        assert error.value.response.headers["Retry-After"] == str(2 - violations)
        assert len(sandbox.violations) == violations
    sandbox.clock.forward(1.0)
    await slack.chat_postMessage(channel="C0OPS", text="x")
    (violation,) = sandbox.violations
    assert violation["kind"] == "call_before_retry_after"
    with pytest.raises(AssertionError, match=r"call_before_retry_after: chat\.postMessage"):
        sandbox.assert_no_violations()
