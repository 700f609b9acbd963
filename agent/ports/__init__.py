"""What the runtime needs of the world: a store, a model, a clock, ids."""

from __future__ import annotations

from agent.ports.allowances import Allowances, Rate, Take
from agent.ports.journals import ControlJournal, Journal, NewestRun, StartsLimit
from agent.ports.keeping import (
    Checked,
    Keeping,
    KeyStatus,
    Limits,
    Projections,
    Rotation,
    Verifier,
)
from agent.ports.leases import Lease, Leases, Renewal
from agent.ports.lists import ApprovalRow, Lists, RunRow
from agent.ports.model import (
    ContextOverflow,
    Lack,
    Model,
    ModelCall,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
    NeedsCredentials,
    ToolSpec,
)
from agent.ports.openings import Opening, Openings
from agent.ports.processes import Process, Processes, Wakeups
from agent.ports.store import Store
from agent.ports.threads import (
    ANNOUNCED,
    KnownThread,
    MessageStatus,
    ThreadMessage,
    Threads,
)
from agent.ports.world import Clock, Directory, Ids

__all__ = [
    "ANNOUNCED",
    "Allowances",
    "ApprovalRow",
    "Checked",
    "Clock",
    "ContextOverflow",
    "ControlJournal",
    "Directory",
    "Ids",
    "Journal",
    "Keeping",
    "KeyStatus",
    "KnownThread",
    "Lack",
    "Lease",
    "Leases",
    "Limits",
    "Lists",
    "MessageStatus",
    "Model",
    "ModelCall",
    "ModelRefused",
    "ModelReply",
    "ModelRequest",
    "ModelUnavailable",
    "NeedsCredentials",
    "NewestRun",
    "Opening",
    "Openings",
    "Process",
    "Processes",
    "Projections",
    "Rate",
    "Renewal",
    "Rotation",
    "RunRow",
    "StartsLimit",
    "Store",
    "Take",
    "ThreadMessage",
    "Threads",
    "ToolSpec",
    "Verifier",
    "Wakeups",
]
