"""``sandbox``: the local Slack, for a bot in whatever language."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.console import note, say
from bot.cli.serving import Port
from bot.together import stop_signals

#: Slack's `ts` has ten digits before the point.
LATEST = 9_999_999_999

if TYPE_CHECKING:
    from bot.sandbox.app import RunningSandbox
    from bot.sandbox.state import Sandbox


def sandbox(
    port: Port = 3333,
    deliver: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Deliver by signed HTTP, to these in turn."),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What the app subscribed to, with commas, as in its manifest; else everything.",
        ),
    ] = None,
    rates: Annotated[
        Literal["off", "fast", "real"],
        typer.Option(help="Slack's rate limits: none, twelve times faster, or as they are."),
    ] = "off",
    real_times: Annotated[
        bool, typer.Option("--real-times", help="Repeat events after a minute, then five.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Same seed, same acts: the same ids and secrets.")
    ] = None,
    still_at: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0, max=LATEST, help="Time stands still there, since 1970."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address at which it listens.")] = "127.0.0.1",
    expose: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Let in others, who reach it by this name or address."),
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", hidden=True)] = None,
) -> None:
    """The local Slack alone."""
    from bot.sandbox.delivery.transport import Timing
    from bot.sandbox.state import Sandbox

    inside = Sandbox(
        deliver=_urls(deliver, more),
        events=None
        if events is None
        else {one.strip() for one in events.split(",") if one.strip()},
        clock=still_at,
        timing=Timing.real() if real_times else Timing.fast(),
        seed=seed,
        rates=rates,
    )
    _run(inside, port, host, expose, _urls(deliver, more))


def _run(inside: Sandbox, port: int, host: str, name: str | None, deliver: list[str]) -> None:
    from bot.sandbox.app import NotAName, NotLoopback, PortTaken, RunningSandbox

    try:
        running = RunningSandbox(inside, port=port, host=host, name=name)
        asyncio.run(_serve(running, deliver))
    except NotLoopback as error:
        raise typer.BadParameter(
            f"{error} If that is wanted, say by which name it is reached: --expose NAME",
            param_hint="--host",
        ) from error
    except NotAName as error:
        raise typer.BadParameter(str(error), param_hint="--expose") from error
    except PortTaken as error:
        note(
            f"Port {error.port} on {error.host} is taken. Nothing was started; "
            "choose another: --port"
        )
        raise typer.Exit(1) from error
    except OSError as error:
        note(f"It can't listen on {host}: {error.strerror or error}. Nothing was started.")
        raise typer.Exit(1) from error


async def _serve(running: RunningSandbox, deliver: list[str]) -> None:
    with stop_signals() as stop:
        async with running:
            say(f"The sandbox is at {running.url}/")
            say(f"Bots reach it with SLACK_API_URL={running.api_url}")
            say(
                "Tokens: xoxb-sandbox, xapp-sandbox; signing secret: sandbox-secret; "
                + (f"delivers to {', '.join(deliver)}" if deliver else "delivers by Socket Mode")
            )
            await stop.wait()


def _urls(deliver: list[str] | None, more: list[str] | None) -> list[str]:
    if more and not deliver:
        raise typer.BadParameter(f"What is {more[0]}? URLs stand behind --deliver.")
    urls = [*(deliver or []), *(more or [])]
    if wrong := [url for url in urls if not url.startswith(("http://", "https://"))]:
        raise typer.BadParameter(f"{wrong[0]} is not a URL.", param_hint="--deliver")
    return urls
