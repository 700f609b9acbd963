"""A policy whose questions wait for so long, and no longer."""

from __future__ import annotations

from agent import Policy
from agent.rules.parts import Patience, Verdict
from agent.rules.policy import Subject


class PatientPolicy(Policy):
    """The same for every question."""

    patience: Patience = Patience()

    def judge(self, subject: Subject) -> Verdict:
        return super().judge(subject).model_copy(update={"patience": self.patience})
