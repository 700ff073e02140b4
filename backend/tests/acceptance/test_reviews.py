"""A pull request's whole life: failing checks, a review and a conflict become rounds, until it is merged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.forge_scene import Scene, deliver, operator_file, settings_for, until
from tests.acceptance.projects import MENDED, git, make_repository, script, step, write
from tests.acceptance.server import Service, ok, serving
from tests.forge_double import GitHubDouble, github_double, signed
from tests.git_http import TOKEN, run_git, serving_git
from tests.github_description import complaints_about
from tests.gitlab_double import GitLabDouble

PULL = 100
WITH_DOCS = '"""Shares of amounts."""\n\n\n' + MENDED
TYPED = WITH_DOCS.replace("amount // 2", "int(amount // 2)")
NAMED = TYPED.replace("amount", "total")
NAMED_HERE = MENDED.replace("amount", "sum")
BOTH = NAMED.replace("Shares of amounts.", "Shares of amounts, rounded down.")
LOG = (
    "2026-11-23T10:00:00.0000000Z installing\n"
    "2026-11-23T10:00:01.0000000Z \x1b[31mshares.py:1: D100 Missing docstring\x1b[0m\n"
    "2026-11-23T10:00:02.0000000Z ##[error]Process completed with exit code 1.\n"
    "2026-11-23T10:00:03.0000000Z cleaning up\n"
)
AGENT = script(
    step("Mended. Coding Complete", write("shares.py", MENDED)),
    step("Documented. Coding Complete", write("shares.py", WITH_DOCS), expects=["D100 Missing docstring"]),
    step("Typed. Coding Complete", write("shares.py", TYPED), expects=["mypy is not satisfied"]),
    step(
        "Renamed. Coding Complete",
        write("shares.py", NAMED),
        expects=["ada wrote at shares.py:4", "call it total", "changes requested: names"],
    ),
    step(
        "Merged by hand. Coding Complete",
        write("shares.py", BOTH),
        expects=["The branch conflicts with main", "conflict markers", "- shares.py"],
    ),
)
REVIEW = """
[repositories.review]
rounds = 4
settle_seconds = 0.2
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    project = make_repository(tmp_path / "project")
    git(project, "checkout", "-q", "--", "README.md")
    with serving_git(tmp_path / "served") as server:
        bare = server.create("acme/shares", project)
        with github_double("acme/shares", server.url, bare) as forge:
            file = tmp_path / "forges.toml"
            file.write_text(operator_file(server.url, forge.url, AGENT, REVIEW))
            yield Scene(forge, settings_for(str(file)))


def test_the_whole_life_of_a_pull_request(scene: Scene, database_url: str, tmp_path: Path) -> None:
    forge = scene.forge
    forge.add_issue(7, "half(8) must be 4", "Today it is 2.")
    with serving(database_url, tmp_path / "data", env=scene.env) as service, service.client() as client:
        assert deliver(service, signed(forge.labeled(7, "phaserunner"), "issues")) == (202, "recorded")
        until(lambda: PULL in forge.pulls)
        root = ok(client.get("/runs"))["items"][-1]["id"]
        watch(client, root, "watching", 0)
        for known in ("lint", "legacy"):
            forge.check(head_of(forge), known, "failure", LOG)
        # `legacy` fails on the target as well, so it is not held against the pull request.
        forge.check(str(forge.head_of("main")), "legacy", "failure")
        send(service, forge.check(head_of(forge), "lint", "failure", LOG), "check_run")
        check_round(forge, client, root, 1, WITH_DOCS)
        text = "mypy is not satisfied\n##[error]exit code 1"
        send(service, forge.check(head_of(forge), "types", "failure", text), "check_run")
        check_round(forge, client, root, 2, TYPED)
        theirs = commit_to(forge, tmp_path, forge.pulls[PULL]["head"]["ref"], {"NOTES.md": "By hand.\n"})
        send(service, forge.synchronized(PULL), "pull_request")
        pushed = until(lambda: watch(client, root, "watching", 2)["review"]["push"])
        assert (pushed["commit"], pushed["status"]) == (theirs, "passed")
        assert [each["state"] for each in forge.statuses if each["sha"] == theirs] == ["success"]
        # Eve may not write: what she asks for begins nothing.
        send(
            service,
            forge.review(PULL, "CHANGES_REQUESTED", "delete everything", "eve"),
            "pull_request_review",
        )
        remark = {"path": "shares.py", "line": 4, "body": "call it total"}
        asked = forge.review(PULL, "CHANGES_REQUESTED", "changes requested: names", remark=remark)
        send(service, asked, "pull_request_review")
        check_round(forge, client, root, 3, NAMED)
        commit_to(forge, tmp_path, "main", {"shares.py": NAMED_HERE})
        send(service, forge.pushed("main", "Mend it here, too"), "push")
        check_round(forge, client, root, 4, BOTH)
        assert is_ancestor(forge, "main"), "the conflict is solved by a merge"
        send(service, forge.check(head_of(forge), "lint", "failure", LOG), "check_run")
        watch(client, root, "spent", 4)
        send(service, forge.review(PULL, "APPROVED", ""), "pull_request_review")
        watch(client, root, "approved", 4)
        send(service, forge.merge(PULL), "pull_request")
        shown = watch(client, root, "ended", 4)
        assert (shown["outcome"], shown["outcome_by"], shown["problem"]) == ("merged", "ada", "")
        assert len(ok(client.get("/runs"))["items"]) == 5
    check_traces(forge)


def check_round(forge: GitHubDouble, client: httpx.Client, root: str, number: int, content: str) -> None:
    """A round ends with its files on the pull request's branch, on top of what was there."""
    before = head_of(forge)
    until(lambda: run_git(forge.bare, "show", f"{head_of(forge)}:shares.py") == content.strip())
    assert is_ancestor(forge, before), "nothing is pushed by force"
    shown = watch(client, root, "watching", number)
    run = ok(client.get(f"/runs/{shown['review']['round_run_id']}"))
    assert (run["status"], run["forge"]["root_run_id"]) == ("completed", root)
    assert f"(round {number})" in run["name"]


def check_traces(forge: GitHubDouble) -> None:
    """One pull request, one comment on it and one on the issue; no secret anywhere."""
    assert list(forge.pulls) == [PULL]
    assert len(forge.comments_of(7)) == 1
    said = [
        each.body["body"] for each in forge.exchanges if each.method == "PATCH" and "comments" in each.path
    ]
    told = ["Pull request:" in each for each in said if "phaserunner:run:" in each]
    assert told[told.index(True) :] == [True] * (len(told) - told.index(True)), (
        "it names the pull request for good"
    )
    (comment,) = forge.comments_of(PULL)
    assert "all 4 rounds are used" in comment
    assert "delete everything" not in repr(forge.pulls)
    assert TOKEN not in repr(forge.exchanges)
    asked = [each for each in forge.exchanges if each.path != "/graphql"]
    assert [said for each in asked for said in complaints_about(each)] == []


def watch(client: httpx.Client, root: str, state: str, rounds: int) -> dict[str, Any]:
    """Wait until the review is in a state after so many rounds; give what the API shows."""

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = ok(client.get(f"/runs/{root}"))["forge"]
        review = found["review"]
        there = review is not None and (review["state"], review["rounds"]) == (state, rounds)
        return found if there else None

    return until(look)


def send(service: Service, payload: dict[str, Any], event: str) -> None:
    """Deliver something that is recorded."""
    assert deliver(service, signed(payload, event)) == (202, "recorded")


def head_of(forge: GitHubDouble) -> str:
    """Return the commit of the pull request's branch."""
    return str(forge.head_of(forge.pulls[PULL]["head"]["ref"]))


def is_ancestor(forge: GitHubDouble, commit: str) -> bool:
    """Tell whether the pull request's branch holds a commit."""
    return run_git(forge.bare, "merge-base", commit, head_of(forge)) == run_git(
        forge.bare, "rev-parse", commit
    )


def commit_to(forge: GitHubDouble | GitLabDouble, tmp_path: Path, branch: str, files: dict[str, str]) -> str:
    """Push a commit to a branch as a person would; gives the commit."""
    clone = tmp_path / f"clone-{branch.replace('/', '-')}"
    run_git(tmp_path, "clone", "-q", "-b", branch, str(forge.bare), str(clone))
    for name, content in files.items():
        (clone / name).write_text(content)
    run_git(clone, "add", "-A")
    run_git(clone, "commit", "-q", "-m", "By hand")
    run_git(clone, "push", "-q")
    return str(forge.head_of(branch))
