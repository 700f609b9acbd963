"""A deploy service for the example, over HTTP on loopback: it deploys nothing, and remembers all of it in a file.

python examples/deploys/service.py [--port 8099] [--file deploys.json]

POST /operations         {"do": "deploy", "service", "environment", "version"}, or {"do": "roll_back", "service",
                         "environment"}; what is sent again with the same Idempotency-Key is done once
GET  /operations/KEY     what it did, or 404
GET  /services/NAME      what runs where
POST /faults             {"lose_answers": 1}: so many operations are done, and their answers lost;
                         {"lose_requests": 1}: so many are lost before anything is done
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from aiohttp import web

ENVIRONMENTS = ("staging", "production")
#: What runs at first.
SERVICES = {"web": "1.4", "api": "2.0"}
_FILE = web.AppKey("file", Path)
FAULTS = web.AppKey("faults", dict[str, int])

Record = dict[str, Any]


def app_on(file: Path) -> web.Application:
    """The service, with what it has done in ``file``."""
    app = web.Application()
    app[_FILE] = file
    app[FAULTS] = {"lose_answers": 0, "lose_requests": 0}
    app.add_routes(
        [
            web.post("/operations", _do),
            web.get("/operations/{key}", _look_up),
            web.get("/services/{name}", _status),
            web.post("/faults", _set_faults),
        ]
    )
    return app


async def _do(request: web.Request) -> web.Response:
    if _takes_fault(request.app, "lose_requests"):
        return _lose(request)
    wanted = await request.json()
    operation, done = request.headers["Idempotency-Key"], _done(request.app)
    if operation not in done:
        try:
            done[operation] = {"id": f"dep_{len(done) + 1}", **_carried_out(wanted, done)}
        except _Refused as error:
            return web.json_response({"error": str(error)}, status=409)
        request.app[_FILE].write_text(json.dumps(done, indent=1))
    if _takes_fault(request.app, "lose_answers"):
        return _lose(request)
    return web.json_response(done[operation])


async def _look_up(request: web.Request) -> web.Response:
    record = _done(request.app).get(request.match_info["key"])
    if record is None:
        return web.json_response({"error": "there is no such operation"}, status=404)
    return web.json_response(record)


async def _status(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in SERVICES:
        return web.json_response({"error": f"there is no service {name}"}, status=404)
    done = _done(request.app)
    runs = {where: _history(name, where, done)[-1] for where in ENVIRONMENTS}
    return web.json_response({"service": name, **runs})


async def _set_faults(request: web.Request) -> web.Response:
    request.app[FAULTS].update(await request.json())
    return web.json_response(request.app[FAULTS])


class _Refused(Exception):
    """Nothing was done; why."""


def _carried_out(wanted: Record, done: dict[str, Record]) -> Record:
    """What is remembered of it. Raises ``_Refused``."""
    service, environment = wanted["service"], wanted["environment"]
    if service not in SERVICES or environment not in ENVIRONMENTS:
        raise _Refused(f"there is no service {service} in {environment}")
    ran = _history(service, environment, done)
    is_back = wanted["do"] == "roll_back"
    if is_back and len(ran) < 2:
        raise _Refused(f"nothing ran in {environment} before {ran[-1]} of {service}")
    version = ran[-2] if is_back else wanted["version"]
    return {**wanted, "version": version, "before": ran[-1]}


def _history(service: str, environment: str, done: dict[str, Record]) -> list[str]:
    """The versions that ran there, without those that were rolled back; the last one runs."""
    ran = [SERVICES[service]]
    for one in done.values():
        if (one["service"], one["environment"]) == (service, environment):
            ran = ran[:-1] if one["do"] == "roll_back" else [*ran, one["version"]]
    return ran


def _done(app: web.Application) -> dict[str, Record]:
    """By operation id, oldest first."""
    done: dict[str, Record] = json.loads(app[_FILE].read_text()) if app[_FILE].exists() else {}
    return done


def _takes_fault(app: web.Application, fault: str) -> bool:
    faults = app[FAULTS]
    is_due = faults[fault] > 0
    faults[fault] -= is_due
    return is_due


def _lose(request: web.Request) -> web.Response:
    """The connection breaks off before anything is answered."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--port", type=int, default=8099)
    options.add_argument("--file", type=Path, default=Path("deploys.json"))
    chosen = options.parse_args()
    web.run_app(app_on(chosen.file), host="127.0.0.1", port=chosen.port)


if __name__ == "__main__":
    main()
