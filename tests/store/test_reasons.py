"""Why a database can't be used now, in words that somebody can act on."""

from __future__ import annotations

from asyncpg import InternalClientError, QueryCanceledError

from store.reasons import reason


def test_a_connection_that_is_ending_is_not_told_in_the_drivers_own_terms() -> None:
    met = InternalClientError("cannot switch to state 12; another operation (2) is in progress")
    assert reason(met) == "the server has ended the connection"


def test_a_statement_that_the_server_gives_up_names_what_to_change() -> None:
    met = QueryCanceledError("canceling statement due to statement timeout")
    assert reason(met).endswith(
        "(canceling statement due to statement timeout). See its statement_timeout"
    )
