"""A local Slack: the Web API, Socket Mode, signed HTTP, and a page to be its users on.

It imports nothing of Pilothouse, and Pilothouse does not know that it is there. To read, in order:

    state.py                 a `Sandbox`: all parts, wired
    workspace.py seed.py     who and what there is
    messages.py posting.py   what is said, and the events that come of it
    webapi/                  what the app calls: `methods.py` is the table, `server.py` checks each call
    act/                     what people do: `server.py` is the table
    interactions/            what an act hands to the app: triggers, response URLs, views
    delivery/                how the app is told: `outbox.py`, then `socket.py` or `http.py`
    limits/                  what Slack refuses in blocks, messages and views
    faults/ rates.py policies.py guesses.py    what a test may set
    app.py opened.py fixture.py                serving it; as Python holds it; as pytest does
    inspect.py live.py page/                   what can be seen of it
"""

from __future__ import annotations
