"""Sources that are fetched from a URL or come as an archive, their limits and repeated imports."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from app.core.errors import InvalidInputError, PhaseRunnerError, WorkspaceError
from app.schemas.workspaces import ArchiveSource, EmptySource, GitSource, WorkspaceSource
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.history.git import Git
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.importing import import_source
from app.workspaces.sources.inspection import SourcePolicy, check_url, inspect_source, without_password
from tests.unit.workspaces.conftest import UserRepository
from tests.unit.workspaces.sources.source_support import ANY, FILES, archive, files_in, local
from tests.unit.workspaces.sources.test_archive import info, tar, zipped

pytestmark = pytest.mark.anyio
ADAPTER: TypeAdapter[WorkspaceSource] = TypeAdapter(WorkspaceSource)


URLS = [
    "https://example.org/a.git",
    "ssh://git@example.org:2222/a",
    "git@example.org:a/b.git",
    "https://[::1]/a",
]
BAD_URLS = [
    "http://example.org/a",
    "git://example.org/a",
    "ext::sh -c touch% /tmp/x",
    "--upload-pack=touch",
    "-x@host:a",
    "ssh://-oProxyCommand=touch/a",
    "git@-oProxyCommand=touch:a",
    "git@host:-x",
    "file:///tmp/a",
    "/tmp/a",
    "../a",
    "https://",
    "https:///a",
    "https://[bad/a",
    "https://example.org/a b",
    "fd::17/foo",
    "host:path",
]


@pytest.mark.parametrize("url", URLS)
async def test_urls_that_are_fetched_from(url: str, git: Git) -> None:
    assert (await inspect_source(GitSource(url=url), ANY, git)).location == url


@pytest.mark.parametrize("url", BAD_URLS)
async def test_urls_that_are_not(url: str, git: Git, run_repository: RunRepository) -> None:
    with pytest.raises(InvalidInputError) as refused:
        await inspect_source(GitSource(url=url), ANY, git)
    assert refused.value.field == "source.url"
    with pytest.raises(InvalidInputError):
        await import_source(GitSource(url=url), run_repository, ANY)


def test_file_urls_are_a_choice() -> None:
    check_url("file:///srv/a", FILES)


async def test_file_urls_are_held_to_the_roots(git: Git, tmp_path: Path) -> None:
    policy = SourcePolicy(allow_file_urls=True, allowed_roots=(tmp_path / "allowed",))
    for url in (f"file://{tmp_path}/other", "file://host/x", "file:///%2e%2e/x"):
        with pytest.raises(InvalidInputError) as refused:
            await inspect_source(GitSource(url=url), policy, git)
        assert refused.value.field == "source.url"


def test_a_shown_url_has_no_password() -> None:
    assert without_password("https://me:secret@host/a") == "https://***@host/a"
    assert without_password("ssh://git:secret@host/a") == "ssh://git@host/a"
    assert without_password("git@host:a") == "git@host:a"


@pytest.mark.parametrize("ref", [None, "main", "v1", "HEAD"])
async def test_a_url_is_imported(
    run_repository: RunRepository, tmp_path: Path, user: UserRepository, ref: str | None
) -> None:
    plain = tmp_path / "plain"  # a file URL cannot hold a space
    user.git("tag", "-a", "v1", "-m", "x")
    user.git("clone", "-q", ".", str(plain))
    base = await import_source(GitSource(url=f"file://{plain}", ref=ref), run_repository, FILES)
    assert base == user.git("rev-parse", "HEAD")
    assert not await run_repository.has(user.git("rev-parse", "HEAD~1"))


async def test_a_url_with_other_hashes_is_imported(run_repository: RunRepository, tmp_path: Path) -> None:
    other = UserRepository(tmp_path / "other")
    other.git("init", "-q", "-b", "main", "--object-format=sha256")
    (other.path / "app.py").write_text("x = 1\n")
    head = other.commit()
    assert await import_source(GitSource(url=f"file://{other.path}"), run_repository, FILES) == head


@pytest.mark.parametrize(
    ("ref", "field"), [("no-such-branch", "source.ref"), ("a:b", "source.ref"), ("-x", "source.ref")]
)
async def test_a_ref_that_the_remote_does_not_have(
    run_repository: RunRepository, tmp_path: Path, user: UserRepository, ref: str, field: str
) -> None:
    plain = tmp_path / "plain"
    user.git("clone", "-q", ".", str(plain))
    with pytest.raises(PhaseRunnerError) as refused:
        await import_source(GitSource(url=f"file://{plain}", ref=ref), run_repository, FILES)
    assert refused.value.field == field


async def test_a_url_with_nothing_behind_it(run_repository: RunRepository, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be fetched") as refused:
        await import_source(GitSource(url=f"file://{tmp_path}/nothing"), run_repository, FILES)
    assert refused.value.field == "source.url"
    assert not run_repository.exists


async def test_an_empty_source(git: Git, run_repository: RunRepository, tmp_path: Path) -> None:
    assert (await inspect_source(EmptySource(), ANY, git)).dirty is False
    base = await import_source(EmptySource(), run_repository, ANY)
    await run_repository.checkout(base, tmp_path / "t")
    assert files_in(tmp_path / "t") == []
    other = RunRepository(git, tmp_path / "other.git")
    assert await import_source(EmptySource(), other, ANY) == base  # the same files, the same commit


ZIP = zipped(("proj/a.py", b"a"), ("proj/b/c.py", b"c"), ("proj/.gitignore", b"*.log\n"), ("proj/x.log", b""))


@pytest.mark.parametrize(
    ("strip", "expected"),
    [
        (False, ["proj/.gitignore", "proj/a.py", "proj/b/c.py"]),
        (True, [".gitignore", "a.py", "b/c.py"]),
    ],
)
async def test_an_archive_source(
    git: Git, run_repository: RunRepository, tmp_path: Path, strip: bool, expected: list[str]
) -> None:
    source = archive(ZIP, strip_top_level=strip)
    assert "zip archive" in (await inspect_source(source, ANY, git)).location
    base = await import_source(source, run_repository, ANY)
    await run_repository.checkout(base, tmp_path / "t")
    assert files_in(tmp_path / "t") == expected
    assert sorted(each.name for each in run_repository.path.parent.iterdir()) == ["repo.git"]


async def test_an_archive_with_nothing_to_strip(run_repository: RunRepository, tmp_path: Path) -> None:
    base = await import_source(
        archive(tar((info("a"), b"1"), (info("d/b"), b"2")), strip_top_level=True), run_repository, ANY
    )
    await run_repository.checkout(base, tmp_path / "t")
    assert files_in(tmp_path / "t") == ["a", "d/b"]


async def test_archives_that_cannot_be_used(git: Git, run_repository: RunRepository) -> None:
    stored = ArchiveSource.model_validate(archive(ZIP).model_dump())
    for source in (stored, archive(b"hello")):
        with pytest.raises(InvalidInputError) as refused:
            await inspect_source(source, ANY, git)
        assert refused.value.field == "source.data"
        with pytest.raises(InvalidInputError):
            await import_source(source, run_repository, ANY)


async def test_a_source_beyond_the_limits(user: UserRepository, git: Git, tmp_path: Path) -> None:
    repository = RunRepository(git, tmp_path / "r.git", WorkspaceLimits(max_files=2))
    with pytest.raises(WorkspaceError, match="3 files; at most 2") as refused:
        await import_source(local(user.path), repository, ANY)
    assert refused.value.field == "source.path"
    assert not repository.exists


async def test_an_import_can_be_repeated(user: UserRepository, run_repository: RunRepository) -> None:
    first = await import_source(local(user.path), run_repository, ANY)
    assert await import_source(local(user.path), run_repository, ANY) == first
