"""Trees of a run have the line endings that git writes on a checkout, and commits those of the source."""

from pathlib import Path

import pytest

from app.schemas.workspaces import LocalSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

FILES = {
    ".gitattributes": b"* text=auto\n*.bat text eol=crlf\n",
    "sub/.gitattributes": b"*.txt text=auto eol=crlf\nraw.txt -text\n",
    "plain.txt": b"one\ntwo\n",
    "run.bat": b"one\r\ntwo\r\n",
    "sub/golden.txt": b"one\r\ntwo\r\n",
    "sub/raw.txt": b"one\ntwo\n",
}


@pytest.fixture
async def base(user: UserRepository, run_repository: RunRepository) -> str:
    for name, content in FILES.items():
        path = user.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    user.git("add", "-A")
    user.git("commit", "-q", "-m", "line endings")
    return await import_source(LocalSource(path=str(user.path)), run_repository, SourcePolicy())


def content(tree: Path) -> dict[str, bytes]:
    return {name: (tree / name).read_bytes() for name in FILES}


async def test_a_tree_has_the_line_endings_of_a_checkout(
    base: str, run_repository: RunRepository, tmp_path: Path
) -> None:
    await run_repository.checkout(base, tmp_path / "one" / "tree")
    assert content(tmp_path / "one" / "tree") == FILES
    assert await run_repository.read_file(base, "run.bat", 100) == b"one\ntwo\n"


async def test_a_commit_takes_them_back(base: str, run_repository: RunRepository, tmp_path: Path) -> None:
    tree = tmp_path / "one" / "tree"
    await run_repository.checkout(base, tree)
    same = await run_repository.commit_tree(tree, base, "nothing")
    assert not same.changed
    (tree / "run.bat").write_bytes(b"one\r\nthree\r\n")
    made = await run_repository.commit_tree(tree, base, "three")
    assert made.changed_files == ("run.bat",)
    assert await run_repository.read_file(made.commit, "run.bat", 100) == b"one\nthree\n"
    await run_repository.checkout(made.commit, tmp_path / "two" / "tree")
    assert (tmp_path / "two" / "tree" / "run.bat").read_bytes() == b"one\r\nthree\r\n"


async def test_a_restored_repository_keeps_them(
    base: str, run_repository: RunRepository, git: Git, tmp_path: Path
) -> None:
    elsewhere = RunRepository(git, tmp_path / "elsewhere" / "repo.git")
    await elsewhere.restore(await run_repository.bundle(base))
    await elsewhere.checkout(base, tmp_path / "again")
    assert content(tmp_path / "again") == FILES
