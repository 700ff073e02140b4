"""What a model is shown: every change, however much somebody adds to push it out of sight."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.models.digest import (
    FILE_CHARS,
    MAX_PARTS,
    TOTAL_CHARS,
    Digest,
    digest,
    read_text,
)
from tests.unit.runners.evaluators.conftest import Tree


def test_changes_are_a_diff(tree: Tree) -> None:
    before = tree({"a.py": "x = 1\n", "gone.py": "y\n", "same.py": "z\n"})
    after = tree({"a.py": "x = 2\n", "same.py": "z\n", ".github/ci.yml": "run: me\n"})
    shown = digest(after, before).shown()
    assert "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2" in shown.text
    assert "+++ b/gone.py" in shown.text
    assert "+run: me" in shown.text
    assert "same.py" not in shown.text
    assert shown.cut == ()


@pytest.mark.parametrize(("count", "size"), [(10, 30_000), (300, 1000)], ids=["large files", "many files"])
def test_padding_does_not_displace_a_change(count: int, size: int, tree: Tree) -> None:
    files = {f"a{number}.txt": "padding " * size for number in range(count)}
    after = tree({**files, "z.py": "import os\nos.system('rm -rf /')\n"})
    found = digest(after, tree({}))
    assert found.complete
    assert "os.system('rm -rf /')" in found.shown().text
    assert len(found.shown().text) < TOTAL_CHARS * 1.5
    assert len(found.shown().cut) == count


def test_more_files_than_a_model_can_see_are_not_read(tree: Tree) -> None:
    files = {f"{number}.txt": "x" for number in range(MAX_PARTS + 1)}
    assert digest(tree(files), tree({})).complete is False


def test_what_is_cut_is_named_and_both_ends_stay(tree: Tree) -> None:
    after = tree({"a.py": "first = 1\n" + "x = 1\n" * FILE_CHARS + "last = 1\n"})
    shown = digest(after, tree({})).shown()
    assert "+first = 1" in shown.text
    assert "+last = 1" in shown.text
    assert "characters are left out here" in shown.text
    assert shown.cut == ("a.py",)


def test_files_that_are_not_text_are_named(tree: Tree) -> None:
    files: dict[str, str | bytes] = {"logo.png": b"\x89\0", "uv.lock": "new", "latin.py": b"# caf\xe9\nx=1\n"}
    shown = digest(tree(files), tree({"uv.lock": "old"})).shown()
    assert shown.cut == ("logo.png", "uv.lock")
    # Python reads such a file, so a reviewer sees it too.
    assert "+# caf\\xe9\n+x=1" in shown.text


def test_names_cannot_fake_a_diff(tree: Tree) -> None:
    name = "a\n+++ b\u202e.py"
    shown = digest(tree({name: "x\n", "b\n.bin": b"\0"}), tree({})).shown()
    assert "+++ b/a\\n+++ b<U+202E>.py\n" in shown.text
    assert shown.cut == ("b\\n.bin",)


def test_a_name_of_any_bytes_can_be_shown(tree: Tree) -> None:
    root = tree({})
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.py")).write_text("x = 1\n")
    text = digest(root, tree({})).shown().text
    assert "b/<U+DCFF>.py" in text
    assert text.encode()


def test_links_are_not_followed(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the host's secret")
    root = tree({"a.py": "x = 1\n"})
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "loop").symlink_to(root)
    assert "secret" not in digest(root, tree({})).shown().text
    assert read_text(root / "link.txt") is None


def test_two_large_files_are_compared_in_time(tree: Tree) -> None:
    before = "".join(f"line {number}\n" for number in range(30_000))
    after = "".join(f"line {number + number % 2}\n" for number in range(30_000))
    shown = digest(tree({"a.txt": after}), tree({"a.txt": before})).shown()
    assert "@@ -2," in shown.text
    assert shown.cut == ("a.txt",)


@given(st.lists(st.integers(min_value=0, max_value=5000), max_size=20), st.integers(0, 20_000))
def test_the_room_is_used_fairly(sizes: list[int], room: int) -> None:
    parts = {f"{number:02}": chr(65 + number) * size for number, size in enumerate(sizes)}
    shown = Digest(parts).shown(room)
    fair = room // len(sizes) if sizes else 0
    for name, text in parts.items():
        if len(text) <= fair:
            assert text in shown.text
            assert name not in shown.cut
