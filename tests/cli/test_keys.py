"""An operator encrypts a store, changes the key, and loses one."""

from __future__ import annotations

from tests.cli.conftest import CommandLine


def test_a_store_is_encrypted_its_key_changed_and_the_old_one_taken_out(
    pilothouse: CommandLine,
) -> None:
    assert pilothouse.inside("run", "refund ORD-3300 180").code == 3
    status = pilothouse.inside("keys", "status")
    assert status.lines[0].startswith("Nothing is encrypted: ")
    old = pilothouse.inside("keys", "new", "--id", "2025").lines[0]
    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = old
    pilothouse.settings["PILOTHOUSE_AUDIT_KEY"] = pilothouse.inside("keys", "new").lines[0]
    done = pilothouse.inside("keys", "rotate")
    assert done.code == 0
    assert done.lines[-2:] == [
        "in the clear: 0 facts",
        "The chains take the audit key; what ended before is marked.",
    ]

    new = pilothouse.inside("keys", "new", "--id", "2026").lines[0]
    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = f"{new},{old}"
    shape = pilothouse.inside("keys", "rotate", "--json").json
    assert [(one["id"], one["in_use"], one["facts"] > 0) for one in shape["keys"]] == [
        ("2026", True, True),
        ("2025", False, False),
    ]
    assert (shape["clear"], shape["rotating"], shape["marking"]) == (0, False, False)

    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = f"{old},{new}"
    assert (
        "PILOTHOUSE_ENCRYPTION_KEYS has the key 2025 in front, which is not the newest: whatever is written takes 2026."
        " Put that one in front." in pilothouse.inside("keys", "status").lines
    )
    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = new
    assert pilothouse.inside("verify").lines[0].startswith("Whole: ")
    assert pilothouse.inside("db", "check").code == 0
    (approval,) = pilothouse.inside("approvals", "--json").json
    assert pilothouse.inside("approve", approval["id"]).code == 0
    assert pilothouse.ledger == {"ORD-3300": 180.0}

    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = old
    refused = pilothouse.inside("runs")
    assert refused.code == 2
    assert refused.err.startswith("PILOTHOUSE_ENCRYPTION_KEYS does not hold the key 2026")
    assert len(refused.err.splitlines()) == 1


def test_what_is_no_id_makes_no_key(pilothouse: CommandLine) -> None:
    refused = pilothouse.inside("keys", "new", "--id", "a b")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("'a b' can't be a key's id")


def test_a_wrong_key_is_never_shown(pilothouse: CommandLine) -> None:
    pilothouse.settings["PILOTHOUSE_ENCRYPTION_KEYS"] = "2026:c2VjcmV0"
    refused = pilothouse.inside("runs")
    assert refused.code == 2
    assert refused.err.startswith(
        "The setting PILOTHOUSE_ENCRYPTION_KEYS is wrong: the key 2026 has 6 bytes"
    )
    assert "c2VjcmV0" not in refused.err
