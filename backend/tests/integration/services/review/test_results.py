"""What a sprint made can be taken, also on a machine that has never seen its files."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.core.errors import ConflictError, NotFoundError
from app.db.models import Run, Snapshot
from app.schemas.api.sprints import SprintCreate
from app.services.review.results import Against
from tests.integration.services.support import UseCases, git, make_repository, use_cases

pytestmark = pytest.mark.anyio


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "my project")


PHASES = ("discovery", "coding", "verification")


async def start(cases: UseCases, repo: Path, *phases: str) -> UUID:
    source = {"kind": "local", "path": str(repo)}
    request = SprintCreate.model_validate({"goal": "g", "source": source, "phases": phases or ["coding"]})
    return (await cases.sprints.start(request, "ada")).id


async def work(
    cases: UseCases, run_id: UUID, number: int, content: str, parent: str | None = None, **values: Any
) -> str:
    """An attempt that writes a file, recorded as the engine does."""
    base = (await cases.rows.get(run_id)).base_commit
    parent = parent or base
    async with cases.trees.open(run_id, parent, 1) as trees:
        (trees[0] / "new.py").write_text(content)
        committed = await cases.trees.commit(run_id, trees[0], base, parent, "work")
    await cases.rows.attempt(run_id, number, base_commit=parent, head_commit=committed.commit, **values)
    async with cases.sessions.begin() as session:
        session.add(Snapshot(run_id=run_id, commit=committed.commit, kind="attempt", bundle=committed.bundle))
    return committed.commit


async def test_nothing_yet(cases: UseCases, repo: Path) -> None:
    run_id = await start(cases, repo)
    await cases.rows.attempt(run_id, head_commit=None, status="started")
    for asked in (cases.results.result, cases.results.patch, cases.results.bundle):
        with pytest.raises(ConflictError, match="no output yet"):
            await asked(run_id)
    with pytest.raises(ConflictError, match="attempt 1 of coding has no output yet"):
        await cases.results.diff(run_id, "coding", 1, Against.BASE)
    with pytest.raises(NotFoundError):
        await cases.results.diff(run_id, "coding", 2, Against.BASE)


DISCOVERED = {"phase": "discovery", "produced_at": datetime(2026, 1, 1, tzinfo=UTC)}
UNFINISHED = {"phase": "coding", "status": "agent_failed"}
CODED = {"phase": "coding", "produced_at": datetime(2026, 1, 2, tzinfo=UTC)}
VERIFIED = {"phase": "verification", "produced_at": datetime(2026, 1, 3, tzinfo=UTC)}


@pytest.mark.parametrize(
    "attempts",
    [
        pytest.param([(1, UNFINISHED), (1, VERIFIED)], id="a later phase"),
        pytest.param([(1, VERIFIED), (1, CODED), (1, DISCOVERED)], id="whatever was stored first"),
        pytest.param([(1, UNFINISHED), (2, CODED)], id="a later attempt"),
        pytest.param([(9, CODED), (10, CODED)], id="the tenth attempt"),
        pytest.param([(1, DISCOVERED), (1, UNFINISHED)], id="unfinished work that was accepted"),
    ],
)
async def test_the_newest_output_is_that_of_the_last_attempt_of_the_last_phase(
    cases: UseCases, repo: Path, attempts: list[tuple[int, dict[str, Any]]]
) -> None:
    run_id = await start(cases, repo, *PHASES)
    made = {
        (place["phase"], number): await work(cases, run_id, number, f"{place} {number}\n", **place)
        for number, place in attempts
    }
    last = max(made, key=lambda each: (PHASES.index(each[0]), each[1]))
    assert (await cases.results.result(run_id)).commit == made[last]


async def test_differences_to_base_and_to_the_attempt_before(cases: UseCases, repo: Path) -> None:
    run_id = await start(cases, repo)
    first = await work(cases, run_id, 1, "one\n")
    await work(cases, run_id, 2, "one\ntwo\n", parent=first)
    whole = await cases.results.diff(run_id, "coding", 2, Against.BASE)
    step = await cases.results.diff(run_id, "coding", 2, Against.PREVIOUS)
    assert [(each.path, each.status, each.additions) for each in whole.files] == [("new.py", "added", 2)]
    assert [(each.path, each.status, each.additions) for each in step.files] == [("new.py", "modified", 1)]
    assert "+two" in await cases.results.diff_text(run_id, "coding", 2, Against.PREVIOUS)


async def test_the_attempt_before_counts_also_when_work_began_anew(cases: UseCases, repo: Path) -> None:
    run_id = await start(cases, repo)
    await work(cases, run_id, 1, "one\n")
    await work(cases, run_id, 2, "two\n")  # from the base again
    step = await cases.results.diff(run_id, "coding", 2, Against.PREVIOUS)
    assert (step.additions, step.deletions) == (1, 1)
    assert "-one\n+two\n" in step.files[0].patch
    first = await cases.results.diff(run_id, "coding", 1, Against.PREVIOUS, ["new.py"])
    assert [each.status for each in first.files] == ["added"]
    assert first.base_commit == (await cases.rows.get(run_id)).base_commit


async def test_the_result_attaches_to_the_users_history(
    cases: UseCases, repo: Path, database_url: str, tmp_path: Path
) -> None:
    run_id = await start(cases, repo)
    commit = await work(cases, run_id, 1, "made\n")
    # Another machine: an empty directory, and only the database.
    async with use_cases(database_url, tmp_path / "elsewhere") as elsewhere:
        result, bundle = await elsewhere.results.bundle(run_id)
        patch = await elsewhere.results.patch(run_id)
    assert (result.commit, result.is_final) == (commit, False)
    (tmp_path / "result.bundle").write_bytes(bundle)
    git(repo, "fetch", "-q", str(tmp_path / "result.bundle"), f"{result.branch}:{result.branch}")
    assert git(repo, "show", f"{result.branch}:new.py") == "made"
    (tmp_path / "result.patch").write_bytes(patch)
    git(repo, "apply", "--check", str(tmp_path / "result.patch"))


async def finish(cases: UseCases, run_id: UUID, commit: str) -> None:
    """Complete the run as the engine does, with this result."""
    async with cases.sessions.begin() as session:
        run = await session.get_one(Run, run_id)
        run.status, run.head_commit = "completed", commit


async def test_the_files_of_a_result_have_their_numbers_of_lines(cases: UseCases, repo: Path) -> None:
    run_id = await start(cases, repo)
    await work(cases, run_id, 1, "one\ntwo\n")
    found = await cases.results.files(run_id)
    assert [(each.path, each.status, each.additions, each.patch) for each in found.files] == [
        ("new.py", "added", 2, "")
    ]
    assert (found.additions, found.deletions) == (2, 0)


async def test_a_merge_is_tried_on_the_branch_that_the_run_started_from(cases: UseCases, repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "work")
    run_id = await start(cases, repo)
    await work(cases, run_id, 1, "one\n")
    git(repo, "checkout", "-q", "-b", "elsewhere")
    found = (await cases.merges.check(run_id, None)).outcome
    assert (found.branch, found.state, found.moved) == ("work", "clean", False)
    git(repo, "branch", "-q", "-D", "work")
    assert (await cases.merges.check(run_id, None)).outcome.branch == "elsewhere"
    (repo / "new.py").write_text("theirs\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "the same file")
    found = (await cases.merges.check(run_id, None)).outcome
    assert (found.state, found.conflicts, found.moved) == ("conflicts", ("new.py",), True)


async def test_only_a_result_that_passed_becomes_a_branch(cases: UseCases, repo: Path) -> None:
    run_id = await start(cases, repo)
    commit = await work(cases, run_id, 1, "one\n")
    with pytest.raises(ConflictError, match="the gates have not passed"):
        await cases.merges.apply(run_id, None)
    await finish(cases, run_id, commit)
    made = await cases.merges.apply(run_id, None)
    assert (made.branch, made.commit, made.created) == (f"phaserunner/{str(run_id)[:8]}", commit, True)
    assert git(repo, "rev-parse", made.branch) == commit
    assert not (await cases.merges.apply(run_id, None)).created
    assert (await cases.merges.apply(run_id, "mine")).created


async def test_a_new_project_has_nothing_to_merge_into(cases: UseCases) -> None:
    request = SprintCreate.model_validate({"goal": "g", "source": {"kind": "empty"}, "phases": ["coding"]})
    run_id = (await cases.sprints.start(request, "ada")).id
    commit = await work(cases, run_id, 1, "one\n")
    await finish(cases, run_id, commit)
    with pytest.raises(ConflictError, match="no branch to merge into"):
        await cases.merges.check(run_id, None)
    with pytest.raises(ConflictError, match="only a local repository"):
        await cases.merges.apply(run_id, None)
