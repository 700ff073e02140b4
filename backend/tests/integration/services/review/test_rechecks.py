"""Results are judged again on the present head of their target, without any agent."""

from collections.abc import AsyncGenerator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import update

from app.core.errors import ConflictError
from app.db.models import Attempt, Run, Snapshot
from app.runners.evaluators.registrations import EvaluatorRegistry
from app.runners.evaluators.testing.gate import PytestEvaluator
from app.runners.phase_panel import PhasePanel
from app.schemas.api.sprints import SprintCreate
from app.services.review.rechecks import RecheckService
from tests.integration.services.support import UseCases, git, use_cases
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

TEST = "from shares import half\n\n\ndef test_half() -> None:\n    assert half(8) == 4\n"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    repository = tmp_path / "project"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    change(repository, {"shares.py": "def half(n):\n    return n // 4\n", "other.py": "A = 1\n"})
    return repository


def change(repository: Path, files: dict[str, str]) -> None:
    """Commit files."""
    for name, text in files.items():
        (repository / name).write_text(text)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "change")


def service(cases: UseCases) -> RecheckService:
    registry = EvaluatorRegistry()
    registry.register(PytestEvaluator(timeout=PATIENCE))
    return RecheckService(cases.sessions, cases.results, cases.merges, PhasePanel(registry))


async def finished(cases: UseCases, project: Path, tmp_path: Path) -> UUID:
    """A completed run on the project whose result mends the half and tests it."""
    source = {"kind": "local", "path": str(project), "ref": "HEAD"}
    request = {"goal": "mend half", "source": source, "phases": ["coding"]}

    sprint = await cases.sprints.start(SprintCreate.model_validate(request), "ada")
    run = await cases.rows.get(sprint.id)
    async with cases.trees.open(run.id, run.base_commit, 1) as (tree,):
        (tree / "shares.py").write_text("def half(n):\n    return n // 2\n")
        (tree / "test_shares.py").write_text(TEST)
        made = await cases.trees.commit(run.id, tree, run.base_commit, run.base_commit, "mend")
    await cases.rows.attempt(run.id, head_commit=made.commit)
    async with cases.sessions.begin() as session:
        session.add(Snapshot(run_id=run.id, commit=made.commit, kind="attempt", bundle=made.bundle))
        values = {"status": "completed", "head_commit": made.commit, "phase": None}
        await session.execute(update(Run).where(Run.id == run.id).values(values))
        await session.execute(update(Attempt).where(Attempt.run_id == run.id).values(status="passed"))
    return run.id


async def test_a_result_is_judged_where_it_would_be_merged(
    cases: UseCases, project: Path, tmp_path: Path
) -> None:
    run_id, rechecks = await finished(cases, project, tmp_path), service(cases)
    assert await rechecks.last(run_id) is None
    change(project, {"other.py": "A = 2\n"})
    passed = await rechecks.recheck(run_id)
    assert (passed.state, passed.verdict, passed.problem) == ("clean", "passed", "")
    assert passed.commit == git(project, "rev-parse", "HEAD")
    assert await rechecks.recheck(run_id) == passed, "nothing moved, so nothing is judged"
    # The branch now asks for more than the result does: it merges cleanly, and a test fails.
    change(
        project,
        {"test_more.py": "from shares import half\n\n\ndef test_odd() -> None:\n    assert half(8) == 2\n"},
    )
    broken = await rechecks.recheck(run_id)
    assert (broken.state, broken.verdict) == ("clean", "failed")
    assert "judged again on main at" in broken.problem
    change(project, {"shares.py": "def half(n):\n    return n / 2\n"})
    conflicting = await rechecks.recheck(run_id)
    assert (conflicting.state, conflicting.conflicts, conflicting.verdict) == (
        "conflicts",
        ["shares.py"],
        None,
    )
    assert "it conflicts with main" in conflicting.problem
    assert await rechecks.last(run_id) == conflicting


async def test_what_the_gates_did_not_pass_is_not_judged_again(cases: UseCases) -> None:
    run_id, _, _ = await cases.rows.waiting()
    with pytest.raises(ConflictError, match="have not passed"):
        await service(cases).recheck(run_id)
