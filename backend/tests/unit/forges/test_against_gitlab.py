"""The double and the adapters against what a published client knows of GitLab's interface."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.forges.gitlab import GitLab
from app.forges.gitlab_polling import GitLabPolling
from app.forges.gitlab_reviews import GitLabReviews
from app.forges.port import CommitStatus, NewPullRequest
from tests.forge_double import Exchange
from tests.git_http import TOKEN, fixed_token, run_git
from tests.gitlab_description import complaints_about
from tests.gitlab_double import GitLabDouble, gitlab_double
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

PROJECT = "acme/widgets"
BRANCH = "phaserunner/1"


@pytest.fixture
def double(tmp_path: Path) -> Iterator[GitLabDouble]:
    user = UserRepository(tmp_path / "project")
    user.git("init", "-q", "-b", "main")
    user.commit()
    run_git(user.path, "branch", BRANCH)
    with gitlab_double(PROJECT, user.path / ".git") as running:
        running.add_issue(7, "Round up", "go")
        yield running


async def test_every_request_and_answer_is_one_of_gitlabs(double: GitLabDouble) -> None:
    await ask_everything(double)
    assert len({(each.method, each.path) for each in double.exchanges}) > 18
    assert [said for each in double.exchanges for said in complaints_about(each)] == []


async def ask_everything(double: GitLabDouble) -> None:
    """Let the adapters do all that they can."""
    client = partial(httpx.AsyncClient, timeout=30.0)
    forge = GitLab(client, double.url, fixed_token(TOKEN))
    await forge.login()
    await forge.issue(PROJECT, 7)
    assert [page async for page in forge.issues(PROJECT, ["go"])]
    await forge.default_branch(PROJECT)
    await forge.may_write(PROJECT, "ada")
    new = NewPullRequest(title="x", body="y", head=BRANCH, base="main", draft=True)
    pull = await forge.open_pull(PROJECT, new)
    await forge.update_pull(PROJECT, pull.number, "z")
    await forge.mark_ready(pull)
    for on_pull in (False, True):
        number = 1 if on_pull else 7
        note = await forge.put_comment(PROJECT, number, "<!-- m -->", "<!-- m --> 1", None, on_pull=on_pull)
        await forge.put_comment(PROJECT, number, "<!-- m -->", "<!-- m --> 2", note, on_pull=on_pull)
    commit = str(double.head_of(BRANCH))
    await forge.set_status(PROJECT, commit, CommitStatus(state="error", description="1", url="https://x"))
    reviews = GitLabReviews(client, double.url, fixed_token(TOKEN), forge)
    run_git(double.bare or Path(), "update-ref", "refs/heads/main", f"{commit}~0")
    double.note(1, "Why?", position={"new_path": "a.py", "old_path": "a.py", "new_line": 1, "old_line": None})
    double.approvals.append("ada")
    double.objections.append("eve")
    double.job(commit, "lint", "failed", "E501")
    await reviews.facts(PROJECT, 1)
    await reviews.merge_base(PROJECT, commit, commit)
    polling = GitLabPolling(client, double.url, fixed_token(TOKEN))
    since = datetime.now(UTC) - timedelta(hours=1)
    double.issues[7]["labels"] = ["go"]
    await polling.labeled_since(PROJECT, ["go"], since)
    await polling.commented_since(PROJECT, since)
    double.merge(1)
    await forge.merged(PROJECT, 1)
    await forge.commits_since(PROJECT, "main", since)


MERGE = "/projects/a%2Fb/merge_requests/1"


@pytest.mark.parametrize(
    ("exchange", "said"),
    [
        (Exchange("GET", "/projects/a%2Fb/merge_requests/1/nothing", None, 200, {}), "no such request"),
        (Exchange("PATCH", MERGE, {}, 200, {}), "no such request"),
        (Exchange("GET", MERGE, None, 200, {"nummer": 7}), "has no field nummer"),
        (Exchange("GET", MERGE, None, 200, {"iid": "7"}), "iid is a number"),
        (Exchange("GET", MERGE, None, 200, {"detailed_merge_status": "fine"}), "is none of"),
        (
            Exchange("GET", f"{MERGE}/approvals", None, 200, {"approved_by": [{"user": {"login": "ada"}}]}),
            "has no field login",
        ),
        (Exchange("POST", "/projects/a%2Fb/merge_requests", {"sauce": 1}, 201, {}), "is called sauce"),
        (Exchange("GET", MERGE, None, 200, {}, frozenset({"pager"})), "is called pager"),
    ],
)
def test_the_description_would_complain(exchange: Exchange, said: str) -> None:
    assert said in "\n".join(complaints_about(exchange))
