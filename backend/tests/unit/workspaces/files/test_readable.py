"""What of a workspace may be shown to a model."""

import os
from pathlib import Path

import pytest

from app.workspaces.files import readable
from app.workspaces.files.readable import UnreadableFileError, looks_secret, read_shown, readable_files

KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n"


def write(root: Path, path: str, content: str | bytes = "text\n") -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)


def shown(root: Path) -> set[str]:
    return {each.path for each in readable_files(root)}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        pytest.param(".env", "A=1", id="environment"),
        pytest.param("deploy/.env.production", "A=1", id="environment of a stage"),
        pytest.param("server.PEM", "x", id="case"),
        pytest.param("keys/id_ed25519", "x", id="ssh"),
        pytest.param(".aws/config", "x", id="directory"),
        pytest.param("config/credentials.json", "{}", id="credentials"),
        pytest.param("notes.md", f"see\n{KEY}", id="a key inside"),
        pytest.param(".env.example", "TOKEN=ghp_" + "a" * 36, id="an example with a real token"),
        pytest.param("db.py", "'ftp://app:hunter2hunter2@example.com/x'", id="password"),
        pytest.param("a.py", "KEY = 'AKIA" + "Z" * 16 + "'", id="access key"),
        pytest.param("image.png", b"\x89PNG\0\x01", id="binary"),
        pytest.param("old.txt", "caf\u00e9".encode("latin-1"), id="not UTF-8"),
        pytest.param("nul.txt", "a\0b", id="NUL"),
        pytest.param("big.txt", "x" * (readable.MAX_FILE_BYTES + 1), id="large"),
    ],
)  # fmt: skip
def test_what_is_never_shown(tmp_path: Path, path: str, content: str | bytes) -> None:
    write(tmp_path, path, content)
    write(tmp_path, "kept.py")
    assert shown(tmp_path) == {"kept.py"}
    with pytest.raises(UnreadableFileError, match=path.rsplit("/", maxsplit=1)[-1]):
        read_shown(tmp_path, path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "node_modules/a/b.js",
        ".venv/x.py",
        "src/__pycache__/x.py",
        "uv.lock",
        "a/site-packages/x.py",
    ],
)
def test_what_is_not_looked_for(tmp_path: Path, path: str) -> None:
    write(tmp_path, path)
    assert shown(tmp_path) == set()


@pytest.mark.parametrize(
    "path",
    ["src/secrets.py", "credentials.md", ".env.example", ".github/workflows/ci.yml", "keys.py", "a b/ü.txt"],
)
def test_what_is_shown(tmp_path: Path, path: str) -> None:
    write(tmp_path, path, "\ufeffTOKEN=change-me\n")
    assert not looks_secret(path)
    assert [(each.path, each.text) for each in readable_files(tmp_path)] == [(path, "TOKEN=change-me\n")]


@pytest.mark.parametrize(
    "path", ["../other", "/etc/passwd", "a/../../b", ".git/config", "", ".", "a\0b", "gone.py"]
)
def test_paths_that_are_not_read(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnreadableFileError):
        read_shown(tmp_path, path)


def test_nothing_is_read_through_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "told.txt")
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").symlink_to(outside / "told.txt")
    (root / "directory").symlink_to(outside)
    os.mkfifo(root / "pipe")
    assert shown(root) == set()
    for path in ("file", "directory/told.txt", "pipe"):
        with pytest.raises(UnreadableFileError):
            read_shown(root, path)


def test_the_bounds_hold_and_small_files_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 6):
        write(tmp_path, f"{number}.txt", "x" * number)
    monkeypatch.setattr(readable, "MAX_TOTAL_BYTES", 6)
    assert [each.path for each in readable_files(tmp_path)] == ["1.txt", "2.txt", "3.txt"]
    monkeypatch.setattr(readable, "MAX_FILES", 2)
    assert len(shown(tmp_path)) == 2
