"""What became of merged work: how much people edited, and whether it was taken back."""

from datetime import UTC, datetime, timedelta

import pytest

from app.forges.outcomes import changed_lines, edits_between, find_revert
from app.forges.port import Commit, MergedPull

AT = datetime(2026, 3, 1, tzinfo=UTC)
MERGE = MergedPull(number=7, commit="a" * 40, head="b" * 40, commits=2, target="main", at=AT)
REPO = "acme/widgets"
PATCH = b"""diff --git a/a.py b/a.py
index 1111..2222 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
--- a comment of SQL
-b = 1
++++ plus
+b = 2
\\ No newline at end of file
@@ -9 +9,0 @@ def f():
-gone
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
-b = 1
diff --git a/x.bin b/x.bin
index 3333..4444
Binary files a/x.bin and b/x.bin differ
"""


def test_lines_of_a_patch_are_read_even_if_they_look_like_headers() -> None:
    assert changed_lines(PATCH) == {
        (b"a.py", b"-", b"-- a comment of SQL"): 1,
        (b"a.py", b"-", b"b = 1"): 1,
        (b"a.py", b"+", b"+++ plus"): 1,
        (b"a.py", b"+", b"b = 2"): 1,
        (b"a.py", b"-", b"gone"): 1,
        (b"old.py", b"-", b"b = 1"): 1,
        (b"Binary files a/x.bin and b/x.bin differ", b"+", b"4444"): 1,
    }


def change(*lines: str) -> bytes:
    added = "".join(f"+{each}\n" for each in lines)
    return f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{len(lines)} @@\n{added}".encode()


@pytest.mark.parametrize(
    ("merged", "share"),
    [
        (("a", "b", "c", "d"), 0.0),
        (("d", "a", "b", "c"), 0.0),
        (("a", "b", "c", "x"), 0.25),
        (("a", "b"), 0.5),
        (("a", "b", "c", "d", "e", "f", "g", "h"), 0.5),
        (("w", "x", "y", "z"), 1.0),
    ],
)
def test_the_share_of_edited_lines(merged: tuple[str, ...], share: float) -> None:
    delivered = changed_lines(change("a", "b", "c", "d"))
    assert edits_between(delivered, changed_lines(change(*merged))).share == share
    assert edits_between(changed_lines(b""), changed_lines(b"")).share == 0.0


@pytest.mark.parametrize(
    "message",
    [
        f'Revert "Round up"\n\nThis reverts commit {"a" * 40}.',
        f"This reverts commit {'b' * 12}, which broke the build.",
        f"Revert it\n\nThis reverts commit {'a' * 40}, reversing\nchanges made to {'c' * 40}.",
        'Revert "Round up (#7)" (#9)\n\nReverts acme/widgets#7',
        "This reverts merge request !7",
    ],
)
def test_reverts_are_found(message: str) -> None:
    later = [Commit("e" * 40, "Else", AT), Commit("d" * 40, message, AT + timedelta(days=2))]
    found = find_revert(MERGE, REPO, later)
    assert found is not None
    assert (found.commit, found.at) == ("d" * 40, AT + timedelta(days=2))


@pytest.mark.parametrize(
    "message",
    [
        f"This reverts commit {'c' * 40}.",
        "Reverts acme/widgets#70",
        "Reverts acme/other#7",
        "Revert to the old colours (#7)",
        "reverts 1234567 cents",
    ],
)
def test_other_reverts_are_none(message: str) -> None:
    assert find_revert(MERGE, REPO, [Commit("d" * 40, message, AT)]) is None


def test_a_revert_counts_for_30_days_and_until_it_is_taken_back() -> None:
    reverts = f"This reverts commit {'a' * 40}."
    late = Commit("d" * 40, reverts, AT + timedelta(days=30, seconds=1))
    assert find_revert(MERGE, REPO, [late]) is None
    first = Commit("d" * 40, reverts, AT + timedelta(days=1))
    back = Commit("e" * 40, f"This reverts commit {'d' * 40}.", AT + timedelta(days=2))
    assert find_revert(MERGE, REPO, [back, first]) is None
    again = Commit("f" * 40, reverts, AT + timedelta(days=3))
    found = find_revert(MERGE, REPO, [again, back, first])
    assert found is not None
    assert found.commit == "f" * 40
