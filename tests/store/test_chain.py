from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from store.chain import BEGINNING, Break, Chain, Link, hash_fact


def links_of(*bodies: str) -> list[Link]:
    links: list[Link] = []
    previous = BEGINNING
    for seq, body in enumerate(bodies, 1):
        previous = hash_fact(previous, "run_1", seq, f"e{seq}", body)
        links.append(Link(seq, f"e{seq}", previous, body))
    return links


def find_break(journal: str, links: Iterable[Link], head_seq: int, head_hash: str) -> Break | None:
    chain = Chain(journal)
    for link in links:
        if broken := chain.follow(link):
            return broken
    return chain.end(head_seq, head_hash)


def test_a_whole_chain_has_no_break() -> None:
    links = links_of("a", "b", "c")
    assert find_break("run_1", links, 3, links[-1].hash) is None


def test_the_chain_is_what_it_was_at_the_first_release() -> None:
    """Were this to change, every stored journal would look forged."""
    assert hash_fact("", "run_1", 1, "e1", "{}") == (
        "2fc6a6a6f7e887f82871f24792527e76d3115b80ddb8edb517ea41521b141f59"
    )


TEXT = st.text(st.characters(codec=None), max_size=20)


@given(TEXT, TEXT, st.integers(0, 2**63), TEXT, TEXT, st.none() | st.binary(min_size=1))
def test_a_hash_covers_each_part_behind_its_length(
    previous: str, journal: str, seq: int, event_id: str, body: str, key: bytes | None
) -> None:
    """Also of what is no text: half a surrogate pair can be asked for."""
    covered = b""
    for part in (previous, journal, str(seq), event_id, body):
        data = part.encode("utf-8", "surrogatepass")
        covered += len(data).to_bytes(8, "big") + data
    keyed = "" if key is None else "hmac:" + hmac.new(key, covered, "sha256").hexdigest()
    plain = hashlib.sha256(covered).hexdigest()
    assert hash_fact(previous, journal, seq, event_id, body, key) == (keyed or plain)


@given(st.lists(st.text(), min_size=2, max_size=6), st.data())
def test_the_first_changed_fact_is_named(bodies: list[str], data: st.DataObject) -> None:
    links = links_of(*bodies)
    at = data.draw(st.integers(0, len(links) - 1))
    head = links[-1].hash
    links[at] = Link(at + 1, links[at].event_id, links[at].hash, bodies[at] + "!")
    assert find_break("run_1", links, len(links), head) == Break(
        at + 1, "it is not what was written"
    )


@given(st.lists(st.text(), min_size=1, max_size=6), st.data())
def test_the_first_missing_fact_is_named(bodies: list[str], data: st.DataObject) -> None:
    links = links_of(*bodies)
    at = data.draw(st.integers(0, len(links) - 1))
    head, length = links[-1].hash, len(links)
    del links[at]
    assert find_break("run_1", links, length, head) == Break(at + 1, "it is missing")


def test_facts_that_changed_places_are_named() -> None:
    links = links_of("a", "b", "c")
    second, third = links[1], links[2]
    swapped = [
        links[0],
        Link(2, third.event_id, third.hash, third.body),
        Link(3, second.event_id, second.hash, second.body),
    ]
    assert find_break("run_1", swapped, 3, third.hash) == Break(2, "it is not what was written")


def test_a_fact_of_another_run_does_not_fit() -> None:
    links = links_of("a")
    assert find_break("run_2", links, 1, links[0].hash) == Break(1, "it is not what was written")


def test_a_chain_that_was_written_anew_differs_from_its_head() -> None:
    forged = links_of("a", "x")
    head = links_of("a", "b")[-1].hash
    assert find_break("run_1", forged, 2, head) == Break(2, "the head is another")


def test_a_fact_behind_the_head_is_named() -> None:
    links = links_of("a", "b")
    assert find_break("run_1", links, 1, links[0].hash) == Break(2, "the head is another")


def test_parts_can_not_flow_into_one_another() -> None:
    assert hash_fact("", "ab", 1, "c", "") != hash_fact("", "a", 1, "bc", "")
