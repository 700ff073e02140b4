"""A part of a file is held back from a run's base, and is in its result again."""

from pathlib import Path

import pytest

from app.core.errors import WorkspaceError
from app.schemas.workspaces import LocalSource
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.branching import create_branch
from app.workspaces.sources.held_back import hold_back, put_back
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy
from app.workspaces.sources.local import locate
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

NAME = "pkg/mod.py"
WHOLE = b"one\ntwo\nthree\nsecret\nfive\nsix\nseven\n"
SHOWN = b"one\ntwo\nthree\nfive\nsix\nseven\n"


async def started(run: RunRepository, user: UserRepository) -> tuple[str, str]:
    """Return the base of a source, and the base without the secret line."""
    (user.path / NAME).write_bytes(WHOLE)
    (user.path / NAME).chmod(0o755)
    user.commit("the secret")
    base = await import_source(LocalSource(path=str(user.path)), run, SourcePolicy())
    return base, await hold_back(run, base, {NAME: SHOWN})


async def worked(run: RunRepository, start: str, tree: Path, **files: bytes) -> str:
    """Return the commit of work that writes `app.py`, and `mod` to the file that was held back."""
    await run.checkout(start, tree)
    (tree / "app.py").write_text("x = 2\n")
    if "mod" in files:
        (tree / NAME).write_bytes(files["mod"])
    return (await run.commit_tree(tree, start, "work")).commit


async def test_the_base_has_no_trace_of_what_is_held_back(
    run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    base, start = await started(run_repository, user)
    assert not await run_repository.has(base)
    assert await run_repository.read_file(start, NAME, 100) == SHOWN
    objects = UserRepository(run_repository.path).git("cat-file", "--batch-all-objects", "--batch")
    assert "secret\n" not in objects
    assert "User <user@example.org>" in objects, "the base keeps its author"
    again = RunRepository(run_repository.git, tmp_path / "again.git")
    assert await again.restore(await run_repository.bundle(start)) == start
    made = await again.checkout_base(start, tmp_path / "tree")
    assert (made.path / NAME).stat().st_mode & 0o111, "the file keeps its mode"


@pytest.mark.parametrize(
    ("mod", "result"),
    [
        pytest.param(SHOWN, WHOLE, id="untouched"),
        pytest.param(b"zero\n" + SHOWN, b"zero\n" + WHOLE, id="changed elsewhere"),
        pytest.param(
            SHOWN.replace(b"five\n", b"four\nfive\n"), WHOLE.replace(b"five\n", b"four\nfive\n"), id="both"
        ),
    ],
)
async def test_the_result_is_on_top_of_the_source_and_has_all(
    run_repository: RunRepository, user: UserRepository, git: Git, tmp_path: Path, mod: bytes, result: bytes
) -> None:
    base, start = await started(run_repository, user)
    head = await worked(run_repository, start, tmp_path / "tree", mod=mod)
    made = await put_back(run_repository, start, base, head, {NAME: WHOLE}, "b/c")
    assert await put_back(run_repository, start, base, head, {NAME: WHOLE}, "b/c") == made
    found = await locate(LocalSource(path=str(user.path)), (), git)
    assert await create_branch(found, "b/c", made[1], git)
    assert user.git("rev-parse", "b/c^") == base
    assert user.git("show", f"b/c:{NAME}") == result.decode().strip()
    assert user.git("show", "b/c:app.py") == "x = 2"
    assert user.git("log", "-1", "--format=%s", "b/c") == "work"
    user.git("fsck", "--strict")
    assert not await run_repository.has(made[0]), "no repository of the service has the hidden part"


async def test_a_result_without_a_known_source_is_complete_by_itself(
    run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    _, start = await started(run_repository, user)
    head = await worked(run_repository, start, tmp_path / "tree")
    _, bundle = await put_back(run_repository, start, None, head, {NAME: WHOLE}, "alone")
    (tmp_path / "result.bundle").write_bytes(bundle)
    other = UserRepository(tmp_path / "other")
    other.git("clone", "-q", "-b", "alone", str(tmp_path / "result.bundle"), "out")
    assert (other.path / "out" / NAME).read_bytes() == WHOLE


@pytest.mark.parametrize("link", [False, True])
async def test_a_file_that_the_result_deletes_comes_back(
    run_repository: RunRepository, user: UserRepository, git: Git, tmp_path: Path, link: bool
) -> None:
    base, start = await started(run_repository, user)
    tree = tmp_path / "tree"
    await run_repository.checkout(start, tree)
    (tree / NAME).unlink()
    if link:
        (tree / NAME).symlink_to("other.py")
    head = (await run_repository.commit_tree(tree, start, "work")).commit
    _, bundle = await put_back(run_repository, start, base, head, {NAME: WHOLE}, "back")
    assert await create_branch(await locate(LocalSource(path=str(user.path)), (), git), "back", bundle, git)
    assert user.git("show", f"back:{NAME}") == WHOLE.decode().strip()
    assert user.git("ls-tree", "back", NAME).startswith("100")


async def test_a_file_that_grew_beyond_all_measure_is_an_error(
    run_repository: RunRepository, user: UserRepository, tmp_path: Path
) -> None:
    base, start = await started(run_repository, user)
    head = await worked(run_repository, start, tmp_path / "tree", mod=SHOWN + b"x" * 4_000_000)
    with pytest.raises(WorkspaceError, match=r"pkg/mod\.py is too large"):
        await put_back(run_repository, start, base, head, {NAME: WHOLE}, "b")
