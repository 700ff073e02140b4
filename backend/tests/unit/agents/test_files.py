"""Nothing an agent asks for leads out of its workspace."""

import os
from pathlib import Path

import pytest

from app.agents import files as module
from app.agents.files import FileRefusedError, WorkspaceFiles


@pytest.fixture
def files(tmp_path: Path) -> WorkspaceFiles:
    root = tmp_path / "a workspace"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_text("one\ntwo\ntwo\n")
    (root / "logo.png").write_bytes(b"\x89PNG\0\0")
    (root / "latin.txt").write_bytes("é".encode("latin-1"))
    (tmp_path / "secret").write_text("key")
    (root / "out").symlink_to(tmp_path)
    (root / "leak").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to(root / "loop")
    (root / "inside").symlink_to(root / "src/a.py")
    (root / ".git").mkdir()
    os.mkfifo(root / "pipe")
    return WorkspaceFiles(root)


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../secret", "src/../../secret", "out/secret", "leak", "loop", ".git/config", "", "a\0b"],
)
def test_ways_out_are_refused(files: WorkspaceFiles, path: str) -> None:
    for operation in (
        lambda: files.read(path),
        lambda: files.write(path, "x"),
        lambda: files.replace(path, "key", "x"),
        lambda: files.listing(path),
    ):
        with pytest.raises(FileRefusedError):
            operation()
    assert (files.root.parent / "secret").read_text() == "key"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret", "out/secret", ".git/config", "src", "missing", "pipe"]
)
def test_nothing_outside_is_deleted(files: WorkspaceFiles, path: str) -> None:
    with pytest.raises(FileRefusedError):
        files.delete(path)
    assert (files.root.parent / "secret").exists()


def test_deleting_a_link_leaves_what_it_points_to(files: WorkspaceFiles) -> None:
    files.delete("leak")
    files.delete("inside")
    assert not (files.root / "leak").is_symlink()
    assert (files.root.parent / "secret").exists()
    assert (files.root / "src/a.py").exists()


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("logo.png", "binary file of 6 bytes"),
        ("latin.txt", "not UTF-8"),
        ("src", "is a directory"),
        ("missing", "no such file"),
        ("pipe", "not a regular file"),
    ],
)
def test_says_why_a_file_cannot_be_read(files: WorkspaceFiles, path: str, told: str) -> None:
    with pytest.raises(FileRefusedError, match=told):
        files.read(path)


def test_large_files_are_refused(files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_READ_BYTES", 3)
    monkeypatch.setattr(module, "MAX_WRITE_CHARS", 3)
    with pytest.raises(FileRefusedError, match="too many to read"):
        files.read("src/a.py")
    with pytest.raises(FileRefusedError, match="too many to write"):
        files.write("b.py", "four")


@pytest.mark.parametrize("path", ["src", ".", "pipe", "src/a.py/below"])
def test_writes_only_where_a_file_can_be(files: WorkspaceFiles, path: str) -> None:
    with pytest.raises(FileRefusedError):
        files.write(path, "x")


def test_writes_make_directories_and_keep_line_ends(files: WorkspaceFiles) -> None:
    assert files.write("new/deep/b.txt", "a\r\nb\n")
    assert not files.write("new/deep/b.txt", "a\r\nb\r\n")
    assert (files.root / "new/deep/b.txt").read_bytes() == b"a\r\nb\r\n"


@pytest.mark.parametrize(("old", "times"), [("two", "2 times"), ("three", "0 times"), ("", "empty")])
def test_replaces_only_what_is_there_once(files: WorkspaceFiles, old: str, times: str) -> None:
    with pytest.raises(FileRefusedError, match=times):
        files.replace("src/a.py", old, "x")
    files.replace("src/a.py", "one", "1")
    assert files.read("src/a.py") == "1\ntwo\ntwo\n"


def test_lists_without_caches_and_with_a_bound(
    files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files.root / "__pycache__").mkdir()
    (files.root / "__pycache__/a.pyc").touch()
    assert files.listing("src") == ["src/a.py"]
    assert not [path for path in files.listing() if "pycache" in path or ".git" in path or "secret" in path]
    monkeypatch.setattr(module, "MAX_LISTED", 2)
    assert len(files.listing()) == 3
    assert "more than 2 files" in files.listing()[-1]
