"""The adapter of GitHub against a double on loopback, with everything that may go wrong in between."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.core.errors import UnavailableError
from app.forges.github import GitHub
from app.forges.port import CommitStatus, ForgeError, NewPullRequest
from app.forges.rest import forge_client
from tests.forge_double import Fault, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token, run_git
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
NEW = NewPullRequest(title="Round up", body="It rounds.", head="phaserunner/1", base="main", draft=False)
MARKER = "<!-- phaserunner:run:1 -->"


@pytest.fixture
def double(tmp_path: Path) -> Iterator[GitHubDouble]:
    user = UserRepository(tmp_path / "project")
    user.git("init", "-q", "-b", "main")
    user.commit()
    run_git(user.path, "branch", NEW.head)
    with github_double(REPO, "https://github.example", user.path / ".git") as running:
        running.add_issue(7, "Round up", "Please.")
        yield running


def adapter(double: GitHubDouble, token: str = TOKEN) -> GitHub:
    return GitHub(partial(httpx.AsyncClient, timeout=30.0), double.url, fixed_token(token))


async def test_reads_issues_permissions_and_branches(double: GitHubDouble) -> None:
    forge = adapter(double)
    issue = await forge.issue(REPO, 7)
    assert (issue.title, issue.body, issue.is_open) == ("Round up", "Please.", True)
    assert await forge.default_branch(REPO) == "main"
    assert [await forge.may_write(REPO, each) for each in ("ada", "eve", "stranger")] == [True, False, False]


async def test_a_lost_response_opens_one_pull_request(double: GitHubDouble) -> None:
    forge = adapter(double)
    double.faults.append(Fault("POST", "/pulls$", 0))
    with pytest.raises(ForgeError, match="cannot be reached") as lost:
        await forge.open_pull(REPO, NEW)
    assert not lost.value.permanent
    assert (await forge.open_pull(REPO, NEW)).number == 100
    assert list(double.pulls) == [100]


async def test_a_pull_request_of_the_same_moment_is_taken(double: GitHubDouble) -> None:
    """Another worker opens it between the look-up and the request: GitHub answers 422."""
    forge = adapter(double)
    await forge.open_pull(REPO, NEW)
    hidden = double.pulls.pop(100)
    double.faults.append(Fault("POST", "/pulls$", 422))
    with pytest.raises(ForgeError) as refused:
        await forge.open_pull(REPO, NEW)
    assert refused.value.permanent
    double.pulls[100] = hidden
    assert (await forge.open_pull(REPO, NEW)).number == 100


async def test_a_draft_becomes_ready(double: GitHubDouble) -> None:
    forge = adapter(double)
    draft = NewPullRequest(title="a", body="b", head=NEW.head, base="main", draft=True)
    pull = await forge.open_pull(REPO, draft)
    assert pull.draft
    await forge.mark_ready(pull)
    await forge.update_pull(REPO, pull.number, "more")
    found = await forge.find_pull(REPO, NEW.head)
    assert found is not None
    assert (found.draft, found.body) == (False, "more")


async def test_there_is_one_comment_and_it_is_updated(double: GitHubDouble) -> None:
    forge = adapter(double)
    double.comments[1] = {"id": 1, "body": f"> {MARKER}", "user": {"login": "eve"}, "issue": 7}
    for index in range(150):  # more than one page
        number = 2000 + index
        double.comments[number] = {"id": number, "body": "x", "user": {"login": "ada"}, "issue": 7}
    double.faults.append(Fault("POST", "/comments$", 0))
    with pytest.raises(ForgeError):
        await forge.put_comment(REPO, 7, MARKER, f"{MARKER} started", None)
    known = await forge.put_comment(REPO, 7, MARKER, f"{MARKER} again", None)
    await forge.put_comment(REPO, 7, MARKER, f"{MARKER} done", known)
    own = [each for each in double.comments_of(7) if each.startswith(MARKER)]
    assert own == [f"{MARKER} done"]
    assert double.comments[1]["body"] == f"> {MARKER}"
    del double.comments[known]
    assert await forge.put_comment(REPO, 7, MARKER, f"{MARKER} done", known) in double.comments


async def test_a_long_status_fits(double: GitHubDouble) -> None:
    await adapter(double).set_status(REPO, "a" * 40, CommitStatus(state="success", description="x" * 500))
    assert len(double.statuses[0]["description"]) == 140


@pytest.mark.parametrize(
    ("fault", "said", "permanent"),
    [
        pytest.param(Fault("GET", "", 401), "renew the credential", False, id="401"),
        pytest.param(Fault("GET", "", 403), "give it more rights", False, id="403"),
        pytest.param(Fault("GET", "", 404), "may not see it", False, id="404"),
        pytest.param(Fault("GET", "", 409), "gave 409", True, id="409"),
        pytest.param(Fault("GET", "", 422), "gave 422", True, id="422"),
        pytest.param(Fault("GET", "", 500), "gave 500", False, id="500"),
        pytest.param(
            Fault("GET", "", 301, {"Location": "https://elsewhere.example"}),
            "renamed or moved",
            False,
            id="301",
        ),
    ],
)
async def test_failures_say_what_to_do(
    fault: Fault, said: str, permanent: bool, double: GitHubDouble
) -> None:
    double.faults.append(fault)
    with pytest.raises(ForgeError, match=said) as failed:
        await adapter(double).issue(REPO, 7)
    assert failed.value.permanent is permanent
    assert failed.value.retry_at is None
    assert TOKEN not in str(failed.value)


@pytest.mark.parametrize("status", [403, 429])
async def test_a_rate_limit_says_when_it_ends(status: int, double: GitHubDouble) -> None:
    end = int(time.time()) + 600
    limits = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(end)}
    double.faults += [Fault("GET", "", status, limits), Fault("GET", "", status, {"retry-after": "60"})]
    found: list[float] = []
    for _ in range(2):
        with pytest.raises(ForgeError, match="asks to wait") as failed:
            await adapter(double).issue(REPO, 7)
        assert failed.value.retry_at is not None
        found.append(failed.value.retry_at.timestamp())
    assert found[0] == end
    assert found[1] < end


@pytest.mark.parametrize(
    "headers", [{"retry-after": "0"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000000000"}]
)
async def test_a_limit_that_is_over_by_our_clock_is_still_waited_for(
    headers: dict[str, str], double: GitHubDouble
) -> None:
    double.faults.append(Fault("GET", "", 403, headers))
    asked = datetime.now(UTC)
    with pytest.raises(ForgeError) as failed:
        await adapter(double).issue(REPO, 7)
    assert failed.value.retry_at is not None
    assert failed.value.retry_at > asked + timedelta(seconds=4)


async def test_a_secondary_limit_that_names_no_end_is_waited_for(double: GitHubDouble) -> None:
    said = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    double.faults.append(Fault("GET", "", 403, message=said))
    with pytest.raises(ForgeError, match="asks to wait") as failed:
        await adapter(double).issue(REPO, 7)
    assert failed.value.retry_at is not None
    assert not failed.value.permanent


async def test_a_slow_forge_is_given_up(double: GitHubDouble) -> None:
    double.faults.append(Fault("GET", "", 500, seconds=2.0))
    forge = GitHub(partial(httpx.AsyncClient, timeout=0.2), double.url, fixed_token(TOKEN))
    with pytest.raises(ForgeError, match="cannot be reached: ReadTimeout"):
        await forge.issue(REPO, 7)


async def test_a_wrong_or_missing_token_is_named(double: GitHubDouble) -> None:
    with pytest.raises(ForgeError, match="refuses the token") as refused:
        await adapter(double, "wrong-token").issue(REPO, 7)
    assert "wrong-token" not in str(refused.value)

    def missing() -> str:
        raise UnavailableError("the credential 'acme' has no secret")

    with pytest.raises(ForgeError, match="has no secret"):
        await GitHub(forge_client, double.url, missing).issue(REPO, 7)
