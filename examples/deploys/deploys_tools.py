"""The tools of the deploys agent: a client of the deploy service at ``DEPLOYS_URL``."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

import aiohttp
from pydantic import Field

from agent import Committed, Rejected, ToolContext, tool

Service = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40)]
Version = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)*$", max_length=20)]
Environment = Literal["staging", "production"]

TIMEOUT = 5


async def _ask(
    method: str, path: str, body: dict[str, Any] | None = None, key: str = ""
) -> dict[str, Any] | None:
    """What the service answers; None for what it does not have.

    Raises ``Rejected`` where nothing was done, and whatever aiohttp raises where that is not known.
    """
    url = os.environ.get("DEPLOYS_URL", "http://127.0.0.1:8099")
    headers = {"Idempotency-Key": key} if key else {}
    async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(TIMEOUT)) as session:
        try:
            async with session.request(method, path, json=body, headers=headers) as response:
                answer: dict[str, Any] = await response.json()
                if response.status == 404:
                    return None
                if response.status == 409:
                    raise Rejected(answer["error"])
                response.raise_for_status()
                return answer
        except aiohttp.ClientConnectorError as error:
            # It was never sent: of all that can go wrong the one thing that is certain.
            raise Rejected(f"the deploy service can't be reached at {url}") from error


async def _do(operation_id: str, wanted: dict[str, Any]) -> Committed:
    record = await _ask("POST", "/operations", wanted, key=operation_id)
    if record is None:
        raise RuntimeError("the deploy service does not know its own operations")
    return _committed(record)


def _committed(record: dict[str, Any]) -> Committed:
    what = {name: record[name] for name in ("service", "environment", "before", "version")}
    return Committed(what, external_id=record["id"])


async def find(operation_id: str) -> Committed | Rejected | None:
    """Asked where nobody knows whether a call went through. Only an answer is one: a service that is away has not said
    that it did nothing."""
    try:
        record = await _ask("GET", f"/operations/{operation_id}")
    except Rejected:
        return None
    return _committed(record) if record else Rejected("the deploy service has no such operation")


async def preview(service: str, environment: str, version: str | None = None) -> str:
    """What would change."""
    runs = await _ask("GET", f"/services/{service}")
    if runs is None:
        raise ValueError(f"there is no service {service}")
    return f"{service} in {environment}: {runs[environment]} → {version or 'what ran before it'}"


@tool(title="Read what runs", approval=False, effect="read", timeout=TIMEOUT)
async def read_status(service: Service) -> dict[str, Any]:
    """Say which version of a service runs in each environment.

    Args:
        service: Its name, such as web.
    """
    runs = await _ask("GET", f"/services/{service}")
    if runs is None:
        raise Rejected(f"there is no service {service}")
    return runs


@tool(title="Deploy", effect="once", reconcile=find, preview=preview, timeout=TIMEOUT)
async def deploy(
    service: Service, version: Version, context: ToolContext, environment: Environment = "staging"
) -> Committed:
    """Deploy a version of a service.

    Args:
        service: Its name, such as web.
        version: The version, such as 1.5.
        environment: Where to.
    """
    wanted = {"do": "deploy", "service": service, "version": version, "environment": environment}
    return await _do(context.operation_id, wanted)


@tool(title="Roll back", effect="once", reconcile=find, preview=preview, timeout=TIMEOUT)
async def roll_back(
    service: Service, context: ToolContext, environment: Environment = "production"
) -> Committed:
    """Have a service run again what ran before its last deploy.

    Args:
        service: Its name, such as web.
        environment: Where.
    """
    wanted = {"do": "roll_back", "service": service, "environment": environment}
    return await _do(context.operation_id, wanted)
