"""The journal keeps its word with keys as without: what of its contract rests on what a row holds."""

from __future__ import annotations

import pytest

from store.keys import Keys, new_key, parse_keys
from tests.store.test_journal import (
    test_a_record_appends_only_what_is_not_there_yet,
    test_a_run_begins_with_its_first_fact,
    test_a_start_whose_answer_was_lost_is_found_without_a_key,
    test_an_append_of_several_facts_is_all_or_nothing,
    test_an_append_whose_answer_was_lost_is_found_by_its_event_ids,
    test_many_records_at_once_leave_no_gap,
    test_the_fold_of_what_is_read_ends_at_the_head,
    test_what_was_appended_is_what_is_read,
)

__all__ = [
    "test_a_record_appends_only_what_is_not_there_yet",
    "test_a_run_begins_with_its_first_fact",
    "test_a_start_whose_answer_was_lost_is_found_without_a_key",
    "test_an_append_of_several_facts_is_all_or_nothing",
    "test_an_append_whose_answer_was_lost_is_found_by_its_event_ids",
    "test_many_records_at_once_leave_no_gap",
    "test_the_fold_of_what_is_read_ends_at_the_head",
    "test_what_was_appended_is_what_is_read",
]


@pytest.fixture
def keys() -> Keys:
    return parse_keys(f"2026:{new_key()}", new_key())
