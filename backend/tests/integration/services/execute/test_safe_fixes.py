"""A sprint whose agent leaves an unused import: a machine mends it, in a commit that can be told apart."""

import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.composition.database import open_sessions
from app.composition.services import Container, build_container
from app.core.config import Settings
from app.db.engine import Sessions
from app.db.models import Attempt, Candidate, Evaluation, EventRow
from app.schemas.api.sprints import SprintCreate
from tests.integration.services.support import RememberingBell

pytestmark = pytest.mark.anyio

SCRIPT = {
    "title": "An import too many",
    "phases": {
        "coding": [
            {
                "say": "Coding Complete",
                "edits": [
                    {"kind": "write", "path": "a.py", "content": "import os\n\nx=1\n"},
                    {
                        "kind": "write",
                        "path": "test_a.py",
                        "content": "from a import x\n\n\ndef test_x():\n    assert x == 1\n",
                    },
                ],
            }
        ]
    },
}


@pytest.fixture
async def sessions(database_url: str, tmp_path: Path) -> AsyncGenerator[Sessions]:
    async with open_sessions(Settings(_env_file=None), database_url) as opened:
        yield opened


def container(sessions: Sessions, data_dir: Path, *, safe_fixes: bool) -> Container:
    settings = Settings(
        _env_file=None,
        DATA_DIR=data_dir,
        EVALUATOR_SAFE_FIXES=safe_fixes,
        MAX_ATTEMPTS=1,
        SANDBOX="off",
    )
    return build_container(settings, sessions, RememberingBell())


async def run_sprint(
    container: Container, sessions: Sessions
) -> tuple[Attempt, dict[str, Any], list[Evaluation]]:
    """Run a sprint to where it waits or ends; give its attempt, what was told of it, and its evaluations."""
    request = SprintCreate.model_validate(
        {
            "goal": "x is 1",
            "source": {"kind": "empty"},
            "phases": ["coding"],
            "agent": {"backend": "scripted", "script": SCRIPT},
        }
    )
    sprint = await container.api.sprints.start(request, "ada")
    await container.advance(sprint.id, 1, 1)
    async with sessions() as session:
        attempt = (await session.scalars(select(Attempt).where(Attempt.run_id == sprint.id))).one()
        told = select(EventRow.data).where(EventRow.run_id == sprint.id, EventRow.type == "attempt.produced")
        evaluations = await session.scalars(
            select(Evaluation)
            .join(Candidate, Candidate.id == Evaluation.candidate_id)
            .where(Candidate.attempt_id == attempt.id)
        )
        return attempt, (await session.scalars(told)).one(), list(evaluations)


def history(data_dir: Path, attempt: Attempt) -> list[str]:
    repository = data_dir / "runs" / str(attempt.run_id) / "repo.git"
    command = ["git", "log", "--format=%s", f"{attempt.base_commit}..{attempt.head_commit}"]
    return subprocess.run(
        command, cwd=repository, check=True, capture_output=True, text=True
    ).stdout.splitlines()


def content(data_dir: Path, attempt: Attempt, revision: str) -> str:
    repository = data_dir / "runs" / str(attempt.run_id) / "repo.git"
    command = ["git", "show", f"{revision}:a.py"]
    return subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout


async def test_fixes_are_a_commit_of_their_own(sessions: Sessions, tmp_path: Path) -> None:
    attempt, told, evaluations = await run_sprint(container(sessions, tmp_path, safe_fixes=True), sessions)
    assert history(tmp_path, attempt) == ["Safe fixes by ruff", "coding: attempt 1"]
    assert attempt.head_commit is not None
    assert content(tmp_path, attempt, attempt.head_commit) == "\nx=1\n"
    assert content(tmp_path, attempt, f"{attempt.head_commit}^") == "import os\n\nx=1\n"
    assert attempt.changed_files == ["a.py", "test_a.py"]
    assert (told["commit"], told["fixed"]) == (attempt.head_commit, ["a.py"])
    assert {each.status for each in evaluations if each.evaluator == "ruff_lint"} == {"passed"}


async def test_nothing_is_fixed_unless_asked_for(sessions: Sessions, tmp_path: Path) -> None:
    attempt, told, evaluations = await run_sprint(container(sessions, tmp_path, safe_fixes=False), sessions)
    assert history(tmp_path, attempt) == ["coding: attempt 1"]
    assert told["fixed"] == []
    assert {each.status for each in evaluations if each.evaluator == "ruff_lint"} == {"failed"}
