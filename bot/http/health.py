"""``/healthz`` and ``/readyz``: no token, no payloads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from aiohttp import web

#: Is this part ready now?
Check = Callable[[], Awaitable[bool]]


def health_routes(
    checks: Mapping[str, Check], failing: Callable[[], Sequence[str]] = tuple
) -> list[web.RouteDef]:
    """Alive whenever it answers; ready when every check says so, else 503 and what is missing. ``failing`` names what
    does not go on beside that; people are answered all the same."""

    async def healthz(request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def readyz(request: web.Request) -> web.Response:
        missing = [name for name, check in checks.items() if not await check()]
        body = {
            "status": "not ready" if missing else "ready",
            "missing": missing,
            "failing": [*failing()],
        }
        return web.json_response(body, status=503 if missing else 200)

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]
