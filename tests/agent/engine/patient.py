"""A policy whose questions wait for so long, and no longer."""

from __future__ import annotations

from agent import Policy
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.parts import Granting, Patience, Verdict
from agent.rules.policy import Subject


class PatientPolicy(Policy):
    """The same for every question; and whoever decides may allow others like it."""

    patience: Patience = Patience()
    granting: Granting | None = None

    @property
    def may_grant(self) -> bool:
        return self.granting is not None

    def judge(self, subject: Subject, around: Circumstances = NOTHING_KNOWN) -> Verdict:
        return (
            super()
            .judge(subject, around)
            .model_copy(update={"patience": self.patience, "granting": self.granting})
        )
