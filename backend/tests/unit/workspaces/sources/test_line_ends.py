"""A base that is compared with a working tree has the line endings that git wrote there."""

import subprocess
from pathlib import Path

import pytest

from app.workspaces.history.git import Git
from app.workspaces.sources.line_ends import write_line_ends

pytestmark = pytest.mark.anyio

FILES = {
    ".gitattributes": b"* text=auto eol=lf\n*crlf* text=auto eol=crlf\nraw-crlf -text\n",
    "plain.txt": b"one\ntwo\n",
    "of_crlf.txt": b"one\ntwo\n",
    "binary_crlf": b"\0one\n",
    "raw-crlf": b"one\n",
    "sub/deep_crlf.txt": b"one\n",
}


def write(place: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def git(place: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    subprocess.run(["git", *who, "-C", str(place), *arguments], check=True, capture_output=True)


async def test_the_files_get_what_git_writes_to_a_working_tree(tmp_path: Path) -> None:
    made = write(tmp_path / "made", FILES)
    git(tmp_path, "init", "-q", "made")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", "made", "cloned")
    bare = write(tmp_path / "bare", FILES)
    await write_line_ends(bare, Git.find())
    assert {name: (bare / name).read_bytes() for name in FILES} == {
        name: (tmp_path / "cloned" / name).read_bytes() for name in FILES
    }
    assert (bare / "sub/deep_crlf.txt").read_bytes() == b"one\r\n"


async def test_a_tree_whose_attributes_ask_for_nothing_stays_as_it_is(tmp_path: Path) -> None:
    files = {**FILES, ".gitattributes": b"* text=auto\n"}
    await write_line_ends(write(tmp_path, files), Git.find())
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
