"""What is read of a review on GitHub: checks with the logs of failures, people with rights, the target."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.forges.github import GitHub
from app.forges.github_reviews import GitHubReviews
from app.forges.port import ForgeError, NewPullRequest
from tests.forge_double import Fault, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token, run_git
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
BRANCH = "phaserunner/1"


@pytest.fixture
def double(tmp_path: Path) -> Iterator[GitHubDouble]:
    user = UserRepository(tmp_path / "project")
    user.git("init", "-q", "-b", "main")
    user.commit()
    run_git(user.path, "checkout", "-q", "-b", BRANCH)
    (user.path / "new.py").write_text("A = 1\n")
    run_git(user.path, "add", "-A")
    run_git(user.path, "commit", "-q", "-m", "new")
    with github_double(REPO, "https://github.example", user.path / ".git") as running:
        yield running


async def reading(double: GitHubDouble) -> GitHubReviews:
    """Open a pull request; give what reads it."""
    client = partial(httpx.AsyncClient, timeout=30.0)
    forge = GitHub(client, double.url, fixed_token(TOKEN))
    await forge.open_pull(REPO, NewPullRequest(title="x", body="", head=BRANCH, base="main", draft=False))
    return GitHubReviews(client, double.url, fixed_token(TOKEN), forge)


async def test_checks_people_and_target(double: GitHubDouble) -> None:
    reviews = await reading(double)
    head, main = str(double.head_of(BRANCH)), str(double.head_of("main"))
    double.check(head, "lint", "failure", "first\n##[error]E501\n")
    double.check(head, "unit", "success")
    double.check(main, "legacy", "failure")
    double.statuses.append({"sha": head, "context": "deploy", "state": "pending"})
    double.statuses.append({"sha": head, "context": "phaserunner", "state": "failure"})
    double.review(100, "CHANGES_REQUESTED", "Rename it.", remark={"path": "new.py", "line": 1, "body": "A?"})
    double.review(100, "APPROVED", "fine", "eve")
    for user, body in (
        ("ada", "/phaserunner retry Name it B."),
        ("ada", "Looks odd."),
        ("eve", "/phaserunner retry"),
    ):
        said = {"id": len(double.comments) + 1, "body": body, "user": {"login": user}, "issue": 100}
        double.comments[said["id"]] = said
    found = await reviews.facts(REPO, 100)
    assert [(each.user, each.text) for each in found.requests] == [("ada", "Name it B."), ("eve", "")]
    assert (found.pull.head, found.pull.target, found.pull.target_head) == (head, "main", main)
    assert found.pull.mergeable is True
    shown = {each.name: (each.state, each.excerpt) for each in found.checks}
    assert shown == {
        "lint": ("failed", "first\n##[error]E501"),
        "unit": ("passed", ""),
        "deploy": ("pending", ""),
    }
    assert found.failing_at_target == {"legacy"}
    assert found.writers == {"ada"}
    assert [(each.path, each.line) for each in found.remarks] == [("new.py", 1)]


async def test_a_log_that_is_gone_leaves_what_the_check_says(double: GitHubDouble) -> None:
    reviews = await reading(double)
    head = str(double.head_of(BRANCH))
    run = double.check(head, "lint", "failure", "never seen")["check_run"]
    run["output"] = {"title": "3 problems", "summary": "E501", "text": None, "annotations_count": 0}
    double.faults.append(Fault("GET", "/logs$", 410))
    (check,) = (await reviews.facts(REPO, 100)).checks
    assert check.excerpt == "3 problems\nE501"


async def test_a_check_of_another_app_says_its_annotations(double: GitHubDouble) -> None:
    reviews = await reading(double)
    run = double.check(str(double.head_of(BRANCH)), "types", "timed_out")["check_run"]
    note = {"path": "new.py", "start_line": 1, "message": "not an int"}
    run["app"] = {"slug": "other"}
    run["output"] = {"title": "1 problem", "summary": None, "text": None, "annotations": [note]}
    (check,) = (await reviews.facts(REPO, 100)).checks
    assert (check.state, check.excerpt) == ("failed", "1 problem\nnew.py:1: not an int")


async def test_the_commit_in_common(double: GitHubDouble) -> None:
    reviews = await reading(double)
    main = str(double.head_of("main"))
    assert await reviews.merge_base(REPO, main, str(double.head_of(BRANCH))) == main


async def test_a_merged_one_needs_no_more_requests(double: GitHubDouble) -> None:
    reviews = await reading(double)
    double.merge(100)
    assert (await reviews.facts(REPO, 100)).pull.pull.merged
    assert not any("/reviews" in each.path for each in double.exchanges)


async def test_a_pull_request_that_is_gone(double: GitHubDouble) -> None:
    reviews = await reading(double)
    with pytest.raises(ForgeError, match="not there, or the token may not see it"):
        await reviews.facts(REPO, 101)
