"""What the agents of the pictures want to do, and the histories in which they ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pydantic import JsonValue

from agent.rules.binding import binding_hash, digest
from agent.rules.events import ApprovalRequested, CallJudged
from agent.rules.ids import ApprovalId
from agent.rules.parts import (
    Approvers,
    Delivery,
    Effect,
    Granting,
    LimitUse,
    Patience,
    Taint,
    Verdict,
)
from bot.slack.ids import Place
from tests.agent.rules import histories
from tests.agent.rules.histories import (
    FINANCE,
    History,
    asked,
    call_started,
    judged,
    proposed_call,
    replied,
    returned,
)

PLACE: Final = Place("T0PILOT", "C0SUPPORT", "1796000000.000100")
MINUTE: Final = timedelta(minutes=1)
DAY: Final = timedelta(days=1)
_VERSION: Final = "5f1d8c02"
_A_DAY: Final = Patience(expires=DAY)
_IN_THE_THREAD: Final = Delivery()


@dataclass(frozen=True, slots=True)
class Act:
    """A call of a tool, and what its rule says of it."""

    title: str
    tool: str
    #: The arguments as the tool's JSON schema describes them, and as they are.
    properties: dict[str, Any]
    args: dict[str, JsonValue]
    reason: str
    rule: str
    preview: str | None = None
    effect: Effect = "idempotent"
    approvers: Approvers = FINANCE
    patience: Patience = _A_DAY
    granting: Granting | None = None
    #: What is used of the rule's limit, and whose words had been read.
    limit: LimitUse | None = None
    tainted_by: tuple[Taint, ...] = ()
    delivery: Delivery = _IN_THE_THREAD
    #: Whoever approves is asked whether they mean it.
    confirm: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        required = list(self.properties)
        return {"type": "object", "properties": self.properties, "required": required}

    def judged(self, number: int = 1) -> CallJudged:
        """A rule of the policy has people asked."""
        says = Verdict(
            action="ask",
            reason=self.reason,
            rule=self.rule,
            policy_version=_VERSION,
            approvers=self.approvers,
            patience=self.patience,
            granting=self.granting,
            limit=self.limit,
            tainted_by=self.tainted_by,
            delivery=self.delivery,
            confirm=self.confirm,
        )
        return judged(number, "ask", args=self.args, effect=self.effect).model_copy(
            update={
                "title": self.title,
                "parameters": self.parameters,
                "schema_digest": digest(self.parameters),
                "verdict": says,
            }
        )

    def asked(self, history: History, number: int = 1, **more: Any) -> ApprovalRequested:
        """People are asked, a second after the newest of this history. ``more``: as in the event."""
        until = self.patience.expires
        asks = asked(number, args=self.args, approvers=self.approvers, preview=self.preview)
        own = {
            "tool": self.tool,
            "title": self.title,
            "reason": self.reason,
            "rule": self.rule,
            "patience": self.patience,
            "expires_at": history.now + until if until else None,
            "delivery": self.delivery,
            "policy_version": _VERSION,
            "hash": binding_hash(self.tool, digest(self.parameters), self.args, self.preview),
        }
        return asks.model_copy(update=own | more)

    def asked_instead(self, history: History) -> ApprovalRequested:
        """As ``apr_2``, in place of ``apr_1``."""
        first, second = ApprovalId("apr_1"), ApprovalId("apr_2")
        return self.asked(history, approval_id=second, supersedes=first)


def begun(prompt: str, **more: Any) -> History:
    """A run that Alice has started in #support. ``more``: as in the event."""
    started = histories.begun(prompt, **more).recorded[0].event
    return History().then(started.model_copy(update={"place": str(PLACE)}))


def waiting(*acts: Act, prompt: str = "refund ORD-3300 180") -> History:
    """One reply with these calls; of each people are asked, as ``apr_1``, ``apr_2`` and so on."""
    return asking(begun(prompt), *acts)


def looked_up(prompt: str = "refund ORD-3300 180") -> History:
    """A run that has looked up the shop's policy."""
    history = begun(prompt).then(replied(proposed_call(9, "search_policy", {"topic": "refunds"})))
    looks = judged(9, effect="read", args={"topic": "refunds"})
    history = history.then(looks.model_copy(update={"title": "Look up the policy"}))
    history = history.then(call_started(9, history.now), after=timedelta(0))
    return history.then(returned(9, "Within 60 days."), after=timedelta(milliseconds=400))


def asking(history: History, *acts: Act) -> History:
    """The same, behind this history."""
    numbered = list(enumerate(acts, 1))
    calls = [proposed_call(number, act.tool, act.args) for number, act in numbered]
    history = history.then(replied(*calls, asked_at=history.length))
    history = history.then(*(act.judged(number) for number, act in numbered))
    return history.then(*(act.asked(history, number) for number, act in numbered))


ORDER: Final = {"type": "string", "title": "Order", "maxLength": 40}
AMOUNT: Final = {
    "type": "number",
    "title": "Amount",
    "format": "money",
    "x-currency": "USD",
    "description": "At most what was paid.",
}


def refund(order: str = "ORD-3300", amount: int = 180, **more: Any) -> Act:
    """Of money, to a customer."""
    told = f"{order}: $0.00 refunded so far, ${amount}.00 would go back to the customer."
    return Act(
        title="Refund an order",
        tool="process_refund",
        properties={"order": ORDER, "amount": AMOUNT},
        args={"order": order, "amount": amount},
        reason=f"refund ${amount}.00 exceeds the $100 threshold",
        rule="ask process_refund when args.amount > 100",
        **{"preview": told, **more},
    )


_DIFF: Final = """\
--- billing/limits.py
+++ billing/limits.py
@@ -8,4 +8,5 @@
 def may_refund(amount, order):
-    return amount <= 100
+    limit = 250 if order.is_paid else 0
+    return amount <= limit
"""

CHANGE: Final = Act(
    title="Change a file",
    tool="change_file",
    properties={
        "file": {"type": "string", "title": "File"},
        "branch": {"type": "string", "title": "Branch"},
        "code": {"type": "string", "title": "New code"},
    },
    args={
        "file": "billing/limits.py",
        "branch": "main",
        "code": "def may_refund(amount, order):\n"
        "    limit = 250 if order.is_paid else 0\n"
        "    return amount <= limit\n",
    },
    reason="changes on main are looked at by two people",
    rule="ask change_file when args.branch == 'main'",
    preview=_DIFF,
    approvers=Approvers(groups=("S0FINANCE",), count=2),
)

_TERMS: Final = "".join(
    f"{number}. A parcel that was not collected within {number + 6} days goes back to the sender, who"
    " bears what that costs; whoever was to have it is told so beforehand, in writing.\n"
    for number in range(1, 81)
)

LETTER: Final = Act(
    title="Send new terms to customers",
    tool="send_letter",
    properties={
        "to": {"type": "string", "title": "To"},
        "subject": {"type": "string", "title": "Subject"},
        "text": {"type": "string", "title": "Text"},
    },
    args={"to": "all customers", "subject": "Our new terms", "text": _TERMS},
    reason="letters to all customers are read first",
    rule="ask send_letter when args.to == 'all customers'",
)

TRANSFER: Final = Act(
    title="Pay a supplier",
    tool="pay_supplier",
    properties={
        "recipient": {"type": "string", "title": "Recipient"},
        "amount": AMOUNT,
        "due": {"type": "string", "format": "date", "title": "Due"},
        "api_key": {"type": "string", "title": "Key of the bank"},
        "note": {"type": "string", "title": "Note to the bank"},
    },
    args={
        "recipient": "Nоrthwind Ltd",
        "amount": 2400,
        "due": "2026-12-01",
        "api_key": "sk-live-0123456789abcdef",
        "note": "Invoice 7731\u202e, urgent",
    },
    reason="payments to suppliers need a person",
    rule="ask pay_supplier",
)

PARCEL: Final = Act(
    title="Send a parcel",
    tool="send_parcel",
    properties={
        "order": ORDER,
        "worth": {**AMOUNT, "title": "Insured for", "description": "In all."},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "speed": {"enum": ["slow", "fast"], "title": "Speed"},
        "signed": {"type": "boolean", "title": "Signed for"},
        "api_key": {"type": "string", "title": "Key of the carrier"},
    },
    args={
        "order": "ORD-3300",
        "worth": 240,
        "day": "2026-12-24",
        "speed": "fast",
        "signed": True,
        "api_key": "sk-live-0123456789abcdef",
    },
    reason="insured parcels need a person",
    rule="ask send_parcel when args.worth > 200",
)
