"""The double and the adapters against what GitHub itself says about its interface and its deliveries."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from app.forges.deliveries import Ended, Nothing, RequestMade, ReviewStirred, read_delivery
from app.forges.github import GitHub
from app.forges.github_reviews import GitHubReviews
from app.forges.large_deliveries import read_large
from app.forges.port import Annotation, CommitStatus, NewPullRequest
from tests.forge_double import Exchange, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token, run_git
from tests.github_description import complaints_about, sample_deliveries
from tests.unit.forges.test_app_tokens import app, pem
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
BRANCH = "phaserunner/1"


@pytest.fixture
def double(tmp_path: Path) -> Iterator[GitHubDouble]:
    user = UserRepository(tmp_path / "project")
    user.git("init", "-q", "-b", "main")
    user.commit()
    run_git(user.path, "branch", BRANCH)
    with github_double(REPO, "https://github.example", user.path / ".git") as running:
        running.add_issue(7, "Round up", "Please.")
        yield running


async def test_every_request_and_answer_is_one_of_githubs(double: GitHubDouble) -> None:
    await ask_everything(double)
    asked = [each for each in double.exchanges if each.path != "/graphql"]
    assert len({(each.method, each.path) for each in asked}) > 18
    assert [said for each in asked for said in complaints_about(each)] == []


async def ask_everything(double: GitHubDouble) -> None:
    """Let the adapters do all that they can."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    double.app_key = key.public_key()
    await app(double).token(pem(key))
    client = partial(httpx.AsyncClient, timeout=30.0)
    forge = GitHub(client, double.url, fixed_token(TOKEN))
    as_app = GitHub(client, double.url, fixed_token(TOKEN), as_app=True)
    commit = str(double.head_of(BRANCH))
    await forge.issue(REPO, 7)
    assert [page async for page in forge.issues(REPO, ["go"])]
    await forge.default_branch(REPO)
    await forge.may_write(REPO, "ada")
    pull = await forge.open_pull(
        REPO, NewPullRequest(title="x", body="y", head=BRANCH, base="main", draft=True)
    )
    await forge.update_pull(REPO, pull.number, "z")
    await forge.mark_ready(pull)
    number = await forge.put_comment(REPO, 7, "<!-- m -->", "<!-- m --> one", None)
    await forge.put_comment(REPO, 7, "<!-- m -->", "<!-- m --> two", number)
    found = [Annotation("a.py", 3, "ruff: E501", "long", blocks=each) for each in (True, False)]
    status = CommitStatus(state="error", description="1", url="https://x.example", annotations=found)
    for each in (forge, as_app, as_app):
        await each.set_status(REPO, commit, status)
    double.check(commit, "lint", "failure", "E501")
    double.review(pull.number, "CHANGES_REQUESTED", "No.", remark={"path": "a.py", "line": 1, "body": "why?"})
    reviews = GitHubReviews(client, double.url, fixed_token(TOKEN), forge)
    await reviews.facts(REPO, pull.number)
    await reviews.merge_base(REPO, commit, commit)


@pytest.mark.parametrize(
    ("exchange", "said"),
    [
        (Exchange("GET", "/repos/a/b/nothing", None, 200, {}), "does not exist"),
        (Exchange("GET", "/repos/a/b/issues/7", None, 200, {"nummer": 7}), "nummer is no field"),
        (Exchange("GET", "/repos/a/b/issues/7", None, 200, {"number": "7"}), "is not of type 'integer'"),
        (Exchange("POST", "/repos/a/b/pulls", {"title": "x"}, 201, {}), "'head' is a required property"),
        (Exchange("GET", "/repos/a/b/issues/7", None, 418, {}), "does not answer 418"),
    ],
)
def test_the_description_would_complain(exchange: Exchange, said: str) -> None:
    assert said in "\n".join(complaints_about(exchange))


@pytest.mark.parametrize(
    ("event", "actions", "kinds"),
    [
        ("issues", {"labeled"}, {RequestMade}),
        ("pull_request", {"closed", "reopened"}, {Ended}),
        ("pull_request", {"synchronize", "ready_for_review"}, {ReviewStirred}),
        ("pull_request_review", {"submitted", "edited", "dismissed"}, {ReviewStirred}),
        ("pull_request_review_comment", {"created"}, {ReviewStirred}),
        ("check_run", {"completed"}, {ReviewStirred}),
        ("check_suite", {"completed"}, {ReviewStirred}),
        ("status", {None}, {ReviewStirred}),
        # A push to a tag stirs nothing.
        ("push", {None}, {ReviewStirred, Nothing}),
    ],
)
def test_githubs_samples_are_read(event: str, actions: set[str | None], kinds: set[type]) -> None:
    samples = [
        payload for name, payload in sample_deliveries() if name == event and payload.get("action") in actions
    ]
    assert samples
    read = [read_delivery(event, each) for each in samples]
    assert {type(each) for each in read} <= kinds, read
    assert any(not isinstance(each, Nothing) for each in read)


def test_no_sample_of_any_event_is_unreadable_or_asks_for_more() -> None:
    samples = sample_deliveries()
    assert len(samples) > 200
    found = [(name, read_delivery(name, payload)) for name, payload in samples]
    assert [
        each for each in found if isinstance(each[1], Nothing) and "cannot be read" in each[1].reason
    ] == []
    acting = {name for name, wish in found if not isinstance(wish, Nothing)}
    assert acting <= {
        *("issues", "issue_comment", "pull_request", "pull_request_review"),
        *("pull_request_review_comment", "check_run", "check_suite", "status", "push"),
    }


def test_a_large_delivery_asks_for_the_same_as_a_small_one() -> None:
    read = [
        (name, read_delivery(name, payload), read_delivery(name, read_large(json.dumps(payload).encode())))
        for name, payload in sample_deliveries()
    ]
    assert [each for each in read if each[1] != each[2]] == []
