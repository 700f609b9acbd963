"""``verify``: what was changed by hand is named, and an anchor shows what no chain can."""

from __future__ import annotations

import json
import stat

from tests.cli.conftest import CommandLine
from tests.cli.test_recovering import in_the_database
from tests.store.tampering import rewrite, setting


def test_a_store_that_nobody_touched_is_whole(pilothouse: CommandLine) -> None:
    run, _ = pilothouse.ask("refund ORD-3300 180")
    ended = pilothouse("verify")
    assert ended.code == 0
    assert ended.lines[0].startswith("Whole: ")
    assert ended.lines[0].endswith(" facts of 1 run and of the control journal.")
    one = pilothouse.inside("verify", run, "--json")
    assert (one.code, one.json["whole"], one.json["runs"], one.json["anchor"]) == (0, True, 1, None)
    unknown = pilothouse.inside("verify", "run_0")
    assert unknown.code == 2


def test_the_first_fact_that_was_changed_is_named(pilothouse: CommandLine) -> None:
    run, _ = pilothouse.ask("refund ORD-3300 180")
    other, _ = pilothouse.ask("refund ORD-3301 180")
    changed = "UPDATE journal SET body = body || ' ' WHERE run_id = ? AND seq > 2"
    in_the_database(pilothouse, changed, run)
    ended = pilothouse.inside("verify")
    assert ended.code == 1
    assert ended.lines[0] == f"{run}: broken at 3: it is not what was written"
    assert ended.lines[1].startswith("1 broken; ")
    shape = pilothouse.inside("verify", "--json")
    assert (shape.code, shape.json["whole"]) == (1, False)
    assert shape.json["breaks"] == [{"journal": run, "seq": 3, "why": "it is not what was written"}]
    assert pilothouse.inside("verify", other).code == 0


class TestAnAnchor:
    def test_is_written_where_there_is_none_and_checked_from_then_on(
        self, pilothouse: CommandLine
    ) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        first_one = ("verify", "--anchor", "anchor.json", "--json")
        written = pilothouse.inside(*first_one).json["anchor"]
        file = pilothouse.folder / "anchor.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        first = file.read_text()
        assert json.loads(first)["taken_at"] == written["written"]
        assert written["checked"] is None
        assert pilothouse.inside("approve", approval).code == 0
        checked = pilothouse.inside("verify", "--anchor", "anchor.json", "--json")
        assert (checked.code, checked.json["anchor"]["written"]) == (0, None)
        assert checked.json["anchor"]["checked"] == written["written"]
        assert file.read_text() == first
        told = pilothouse.inside("verify", run, "--anchor", "anchor.json")
        assert told.lines[-1] == f"Checked against anchor.json, of {written['written']}."
        assert [one.name for one in pilothouse.folder.glob("*anchor*")] == ["anchor.json"]

    def test_is_written_anew_after_a_check_that_found_all_whole(
        self, pilothouse: CommandLine
    ) -> None:
        run, approval = pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("verify", "--anchor", "a.json")
        first = (pilothouse.folder / "a.json").read_text()
        pilothouse.inside("approve", approval)
        assert pilothouse.inside("verify", "--anchor", "a.json", "--renew").code == 0
        second = (pilothouse.folder / "a.json").read_text()
        assert second != first
        url = f"sqlite:///{pilothouse.folder / 'data' / 'pilothouse.db'}"
        rewrite(url, 2, setting(text="forged"), run)
        assert pilothouse.inside("verify").code == 0
        ended = pilothouse.inside("verify", "--anchor", "a.json", "--renew")
        assert ended.code == 1
        assert "anchor" in ended.lines[0]
        assert (pilothouse.folder / "a.json").read_text() == second
        in_the_database(pilothouse, "DELETE FROM journal WHERE seq > 3")
        assert pilothouse.inside("verify", "--anchor", "new.json").code == 1
        assert not (pilothouse.folder / "new.json").exists()

    def test_that_is_missing_is_no_check_for_whoever_says_that_it_must_exist(
        self, pilothouse: CommandLine
    ) -> None:
        run, _ = pilothouse.ask("refund ORD-3300 180")
        for words in (("--must-exist",), ("--renew",), ("--must-exist", "--json")):
            ended = pilothouse.inside("verify", "--anchor", "a.json", *words)
            assert (ended.code, ended.out) == (2, "")
            assert "There is no anchor a.json: nothing was checked." in ended.err
        assert pilothouse.inside("verify", run, "--anchor", "a.json").code == 2
        assert not (pilothouse.folder / "a.json").exists()
        ended = pilothouse.inside("verify", "--anchor", "a.json")
        assert ended.code == 0
        assert "nothing was checked against one" in ended.err
        assert pilothouse.inside("verify", "--anchor", "a.json", "--must-exist").code == 0

    def test_that_can_not_be_used_is_wrong_use(self, pilothouse: CommandLine) -> None:
        (pilothouse.folder / "a.json").write_text("{}")
        assert pilothouse.inside("verify", "--anchor", "a.json").code == 2
        assert pilothouse.inside("verify", "--renew").code == 2
        assert pilothouse.inside("verify", "--must-exist").code == 2
        assert pilothouse.inside("verify", "--anchor", "nowhere/a.json").code == 2

    def test_that_knows_nothing_of_a_run_is_no_check_of_it(self, pilothouse: CommandLine) -> None:
        pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("verify", "--anchor", "a.json")
        run, _ = pilothouse.ask("refund ORD-1 180")
        ended = pilothouse.inside("verify", run, "--anchor", "a.json")
        assert ended.code == 0
        assert f"knows nothing of {run}" in ended.err
        assert "Checked against" not in ended.out
        assert pilothouse.inside("verify", run, "--anchor", "a.json", "--must-exist").code == 2

    def test_that_is_no_anchor_is_told_so(self, pilothouse: CommandLine) -> None:
        pilothouse.ask("refund ORD-3300 180")
        pilothouse.inside("verify", "--anchor", "a.json")
        whole = (pilothouse.folder / "a.json").read_text()
        head = whole.split('"seq": ')[1].split(",")[0]
        for text in (
            whole.replace(f'"seq": {head}', f'"seq": {10**20}', 1),
            whole.replace('"taken_at": "', '"taken_at": "\\ud800', 1),
            "[" * 200_000,
        ):
            (pilothouse.folder / "a.json").write_text(text)
            ended = pilothouse.inside("verify", "--anchor", "a.json")
            assert (ended.code, ended.out) == (2, "")


def test_a_database_in_which_nothing_is_says_that_nothing_was_checked(
    pilothouse: CommandLine,
) -> None:
    assert pilothouse.inside("db", "upgrade").code == 0
    ended = pilothouse.inside("verify")
    assert (ended.code, ended.lines[0][:14]) == (0, "Whole: 0 facts")
    assert "so nothing was checked" in ended.err
