"""The adapter that reads reviews on GitLab, against a double with real git."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.forges import gitlab_reviews
from app.forges.deliveries import OWN
from app.forges.gitlab import GitLab
from app.forges.gitlab_reviews import GitLabReviews
from app.forges.port import CommitStatus, NewPullRequest
from app.forges.reviews import CheckReport, PullFacts
from tests.git_http import TOKEN, fixed_token, run_git
from tests.gitlab_double import GitLabDouble, gitlab_double
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

PROJECT = "acme/tools/widgets"
BRANCH = "phaserunner/1"


@pytest.fixture
def double(tmp_path: Path) -> Iterator[GitLabDouble]:
    user = UserRepository(tmp_path / "project")
    user.git("init", "-q", "-b", "main")
    user.commit()
    run_git(user.path, "branch", BRANCH)
    with gitlab_double(PROJECT, user.path / ".git") as running:
        yield running


async def facts(double: GitLabDouble) -> PullFacts:
    """Open a merge request where there is none, and read it."""
    client = partial(httpx.AsyncClient, timeout=30.0)
    forge = GitLab(client, double.url, fixed_token(TOKEN))
    new = NewPullRequest(title="x", body="", head=BRANCH, base="main", draft=False)
    number = (await forge.open_pull(PROJECT, new)).number
    reading = GitLabReviews(client, double.url, fixed_token(TOKEN), forge)
    return await reading.facts(PROJECT, number)


async def test_notes_are_remarks_threads_or_commands(double: GitLabDouble) -> None:
    place = {"new_path": "a.py", "old_path": "a.py", "new_line": 3, "old_line": 2}
    removed = {"new_path": "a.py", "old_path": "a.py", "new_line": None, "old_line": 9}
    double.note(1, "Why?", position=place)
    double.note(1, "This was needed.", position=removed)
    double.note(1, "Rename it.")
    double.note(1, "/phaserunner retry with fewer lines", resolvable=False)
    double.note(1, "Thanks", resolvable=False)
    double.note(1, "Done already", resolved=True)
    double.note(1, "changed the title", system=True)
    double.note(1, f"{OWN}review:1 --> said")
    double.note(1, "Delete it.", "eve")
    found = await facts(double)
    assert [(each.path, each.line, each.body) for each in found.remarks] == [
        ("a.py", 3, "Why?"),
        ("a.py", None, "This was needed."),
    ]
    assert [(each.user, each.state, each.body) for each in found.reviews] == [
        ("ada", "commented", "Rename it."),
        ("eve", "commented", "Delete it."),
    ]
    assert [each.text for each in found.requests] == ["with fewer lines"]
    assert found.writers == {"ada"}


async def test_who_asks_for_changes_does_not_approve(double: GitLabDouble) -> None:
    double.approvals.append("ada")
    double.objections.append("ada")
    assert [each.state for each in (await facts(double)).reviews] == ["approved", "changes_requested"]


STATES = {
    "created": "pending",
    "running": "pending",
    "waiting_for_resource": "pending",
    "success": "passed",
    "manual": "passed",
    "skipped": "passed",
    "canceled": "passed",
    "failed": "failed",
}


@pytest.mark.parametrize(("status", "expected"), STATES.items())
async def test_each_state_of_a_job(double: GitLabDouble, status: str, expected: str) -> None:
    double.job(head(double), "lint", status)
    (check,) = (await facts(double)).checks
    assert check.state == expected


async def test_checks_have_the_reason_and_the_own_one_is_left_out(double: GitLabDouble) -> None:
    commit = head(double)
    double.job(commit, "lint", "failed", "section_start:1:x\r\x1b[0KE501\n")
    double.job(commit, "may fail", "failed", "E501", allow_failure=True)
    double.job(commit, "external", "failed", "", description="coverage fell to 70 %")
    forge = GitLab(partial(httpx.AsyncClient, timeout=30.0), double.url, fixed_token(TOKEN))
    await forge.set_status(PROJECT, commit, CommitStatus(state="failure", description="no"))
    assert list((await facts(double)).checks) == [
        CheckReport("lint", "failed", ""),
        CheckReport("may fail", "passed", ""),
        CheckReport("external", "failed", ""),
    ], "main is at the same commit, so the target fails as well"
    run_git(double.bare or Path(), "update-ref", "refs/heads/main", other_commit(double))
    assert [each.excerpt for each in (await facts(double)).checks] == ["E501", "", "coverage fell to 70 %"]


async def test_a_pipeline_for_merged_results_counts(double: GitLabDouble) -> None:
    await facts(double)
    merged = other_commit(double)
    double.merges[1]["head_pipeline"] = {"id": 4, "sha": merged}
    double.job(merged, "types", "failed", "mypy is not satisfied")
    assert list((await facts(double)).checks) == [CheckReport("types", "failed", "mypy is not satisfied")]


async def test_a_conflict_is_known_once_gitlab_has_looked(
    double: GitLabDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gitlab_reviews, "_MERGEABLE_SECONDS", 0.0)
    assert (await facts(double)).pull.mergeable is True
    looks: list[str] = []
    double.stands = lambda: (looks.append("look"), "checking" if len(looks) < 3 else "conflict")[1]
    assert (await facts(double)).pull.mergeable is False
    double.stands = lambda: "checking"
    assert (await facts(double)).pull.mergeable is None


async def test_an_old_server_without_reviewers_is_read(double: GitLabDouble) -> None:
    await facts(double)
    double.missing = ("reviewers",)
    double.approvals.append("ada")
    assert [each.state for each in (await facts(double)).reviews] == ["approved"]


async def test_a_merge_request_that_ended_is_not_read_further(double: GitLabDouble) -> None:
    await facts(double)
    double.merge(1)
    double.exchanges.clear()
    found = await facts(double)
    assert (found.pull.pull.merged, found.checks, found.reviews) == (True, (), ())
    assert not any("discussions" in each.path for each in double.exchanges)


def head(double: GitLabDouble) -> str:
    return str(double.head_of(BRANCH))


def other_commit(double: GitLabDouble) -> str:
    """Make a commit that is no head of a branch."""
    return run_git(double.bare or Path(), "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Other")
