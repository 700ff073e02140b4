"""Snapshots may get further entries."""

import pytest

from app.runners.evaluators.protection.snapshots import has_only_more

AMBR = "# serializer version: 1\n# name: test_a\n  'x'\n# ---\n"
MORE = "# name: test_b\n  'y'\n# ---\n"
SNAP = "// Jest Snapshot v1, https://jestjs.io\n\nexports[`a 1`] = `\nx\n`;\n"
MORE_SNAP = "\nexports[`b 1`] = `\ny\n`;\n"
INSTA = "---\nsource: a.rs\n---\nx\n"


@pytest.mark.parametrize(
    ("name", "before", "after", "is_more"),
    [
        ("a.ambr", AMBR, AMBR + MORE, True),
        ("a.ambr", AMBR + MORE, AMBR, False),
        ("a.ambr", AMBR, AMBR.replace("'x'", "'y'") + MORE, False),
        ("a.ambr", AMBR, AMBR.replace("version: 1", "version: 2") + MORE, False),
        ("a.ambr", AMBR, AMBR + AMBR.partition("\n")[2], False),
        ("a.ambr", AMBR, AMBR.replace("  'x'\n", "  'x'\n  'y'\n"), False),
        ("a.snap", SNAP, SNAP + MORE_SNAP, True),
        ("a.snap", SNAP, SNAP.replace("x", "y") + MORE_SNAP, False),
        ("a.snap", SNAP, SNAP + "\nexports[`a 1`] = `\ny\n`;\n", False),
        ("a.snap", SNAP, SNAP + "process.exit(0)\n", False),
        ("a.snap", SNAP, SNAP + MORE_SNAP + "process.exit(0)\n", False),
        ("a.snap", SNAP, SNAP + MORE_SNAP.replace("y", "${process.exit()}"), False),
        ("a.snap", SNAP, SNAP + MORE_SNAP.replace("y", "$y \\${y}"), True),
        ("a.snap", INSTA, INSTA + "y\n", False),
        ("a.txt", AMBR, AMBR + MORE, False),
    ],
)
def test_further_entries(name: str, before: str, after: str, *, is_more: bool) -> None:
    assert has_only_more(name, before.encode(), after.encode()) is is_more


def test_other_bytes_are_no_snapshots() -> None:
    assert not has_only_more("a.ambr", AMBR.encode(), b"\xff")
