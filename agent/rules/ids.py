"""The names of things. All are opaque strings; only whoever made one may look inside."""

from __future__ import annotations

from typing import NewType

#: ``run_…``
RunId = NewType("RunId", str)
#: One conversation; in Slack one thread.
SessionId = NewType("SessionId", str)
#: UUIDv7; an append whose answer was lost is found by it.
EventId = NewType("EventId", str)
#: ``call_…``: one tool call of one reply. Never the model's own id, which may repeat.
CallId = NewType("CallId", str)
#: ``op_…``: the idempotency key that a call keeps over all its attempts.
OperationId = NewType("OperationId", str)
#: ``apr_…``
ApprovalId = NewType("ApprovalId", str)
#: ``grp_…``: the approvals of one model reply.
GroupId = NewType("GroupId", str)
#: ``grt_…``: a grant.
GrantId = NewType("GrantId", str)
#: Who did something: ``slack:TEAM:USER``, ``cli:OSUSER``, ``code:NAME``, ``api:NAME``;
#: ``policy:…`` where nobody did and a rule of the run says so.
Principal = NewType("Principal", str)

#: Who stops a run where a rule says that silence does; and where its budget says that being used up does.
BY_SILENCE = Principal("policy:silence")
BY_BUDGET = Principal("policy:budget")
#: All who are nobody.
BY_RULES = (BY_SILENCE, BY_BUDGET)
