"""A merge request's life on GitLab: a failed job, a note at a line and a conflict become rounds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.acceptance.forge_scene import deliver, operator_file, settings_for, until
from tests.acceptance.projects import MENDED, git, make_repository, script, step, write
from tests.acceptance.server import Service, ok, serving
from tests.acceptance.test_reviews import LOG, NAMED_HERE, WITH_DOCS, commit_to, watch
from tests.forge_double import SECRET
from tests.git_http import TOKEN, run_git, serving_git
from tests.gitlab_description import complaints_about
from tests.gitlab_double import GitLabDouble, gitlab_double

PROJECT = "acme/shares"
NAMED = WITH_DOCS.replace("amount", "total")
BOTH = NAMED.replace("Shares of amounts.", "Shares of amounts, rounded down.")
AGENT = script(
    step("Mended. Coding Complete", write("shares.py", MENDED)),
    step("Documented. Coding Complete", write("shares.py", WITH_DOCS), expects=["D100 Missing docstring"]),
    step(
        "Renamed. Coding Complete",
        write("shares.py", NAMED),
        expects=["ada wrote at shares.py:4", "call it total", "ada wrote in a review", "names matter"],
    ),
    step(
        "Merged by hand. Coding Complete",
        write("shares.py", BOTH),
        expects=["The branch conflicts with main", "conflict markers", "- shares.py"],
    ),
)
REVIEW = """
[repositories.review]
rounds = 3
settle_seconds = 0.2
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[GitLabDouble, dict[str, str]]]:
    project = make_repository(tmp_path / "project")
    git(project, "checkout", "-q", "--", "README.md")
    with serving_git(tmp_path / "served") as server:
        bare = server.create(PROJECT, project)
        with gitlab_double(PROJECT, bare) as forge:
            file = tmp_path / "forges.toml"
            text = operator_file(server.url, forge.url, AGENT, REVIEW)
            file.write_text(text.replace("[forges.github]", '[forges.github]\nkind = "gitlab"'))
            yield forge, settings_for(str(file))


def test_the_whole_life_of_a_merge_request(
    lab: tuple[GitLabDouble, dict[str, str]], database_url: str, tmp_path: Path
) -> None:
    forge, env = lab
    forge.add_issue(7, "half(8) must be 4")
    with serving(database_url, tmp_path / "data", env=env) as service, service.client() as client:
        labels = {"labels": {"previous": [], "current": [{"title": "phaserunner"}]}}
        send(service, "Issue Hook", forge.told(iid=7) | {"changes": labels})
        until(lambda: 1 in forge.merges)
        root = ok(client.get("/runs"))["items"][-1]["id"]
        watch(client, root, "watching", 0)
        forge.job(head_of(forge), "legacy", "failed", LOG)
        forge.job(head_of(forge), "optional", "failed", LOG, allow_failure=True)
        # `legacy` fails on the target as well, so it is not held against the merge request.
        forge.job(str(forge.head_of("main")), "legacy", "failed")
        send(service, "Pipeline Hook", forge.job(head_of(forge), "lint", "failed", LOG))
        check_round(forge, client, root, 1, WITH_DOCS)
        theirs = commit_to(forge, tmp_path, branch_of(forge), {"NOTES.md": "By hand.\n"})
        send(service, "Merge Request Hook", forge.moved(1))
        pushed = until(lambda: watch(client, root, "watching", 1)["review"]["push"])
        assert (pushed["commit"], pushed["status"]) == (theirs, "passed")
        # Eve may not write, and what a resolved thread asked for is done.
        send(service, "Note Hook", forge.note(1, "delete everything", "eve"))
        forge.note(1, "rename the file", resolved=True)
        position = {"new_path": "shares.py", "old_path": "shares.py", "new_line": 4, "old_line": None}
        forge.objections.append("ada")
        forge.note(1, "names matter")
        send(service, "Note Hook", forge.note(1, "call it total", position=position))
        check_round(forge, client, root, 2, NAMED)
        commit_to(forge, tmp_path, "main", {"shares.py": NAMED_HERE})
        told = {"ref": "refs/heads/main", "project": {"path_with_namespace": PROJECT}}
        send(service, "Push Hook", told | {"commits": [{"message": "Mend it here, too"}]})
        check_round(forge, client, root, 3, BOTH)
        assert run_git(forge.bare or tmp_path, "merge-base", "main", head_of(forge)) == forge.head_of("main")
        send(service, "Pipeline Hook", forge.job(head_of(forge), "lint", "failed", LOG))
        watch(client, root, "spent", 3)
        forge.approvals.append("ada")
        send(service, "Merge Request Hook", forge.told(iid=1, action="approved"))
        assert watch(client, root, "spent", 3)["review"]["reason"], "ada still asks for changes"
        forge.objections.clear()
        send(service, "Merge Request Hook", forge.told(iid=1, action="approval"))
        watch(client, root, "approved", 3)
        send(service, "Merge Request Hook", forge.merge(1))
        shown = watch(client, root, "ended", 3)
        assert (shown["outcome"], shown["outcome_by"], shown["problem"]) == ("merged", "ada", "")
        assert len(ok(client.get("/runs"))["items"]) == 4
    check_traces(forge)


def check_round(forge: GitLabDouble, client: httpx.Client, root: str, number: int, content: str) -> None:
    """A round ends with its files on the branch, on top of what was there."""
    before = head_of(forge)
    assert forge.bare is not None
    bare = forge.bare
    until(lambda: run_git(bare, "show", f"{head_of(forge)}:shares.py") == content.strip())
    assert run_git(bare, "merge-base", before, head_of(forge)) == before, "nothing is pushed by force"
    shown = watch(client, root, "watching", number)
    run = ok(client.get(f"/runs/{shown['review']['round_run_id']}"))
    assert (run["status"], run["forge"]["root_run_id"]) == ("completed", root)


def check_traces(forge: GitLabDouble) -> None:
    """One merge request, one note on it and one on the issue; no secret anywhere."""
    assert list(forge.merges) == [1]
    places = sorted(each["noteable_type"] for each in forge.notes.values())
    assert places == ["Issue", "MergeRequest"]
    assert "delete everything" not in repr(forge.merges)
    assert TOKEN not in repr(forge.exchanges)
    assert [said for each in forge.exchanges for said in complaints_about(each)] == []


def send(service: Service, event: str, payload: dict[str, Any]) -> None:
    """Deliver something that is recorded."""
    headers = {"X-Gitlab-Token": SECRET, "X-Gitlab-Event": event, "Idempotency-Key": str(uuid4())}
    url = "http://x/api/v1/forges/gitlab/webhook"
    assert deliver(service, httpx.Request("POST", url, json=payload, headers=headers)) == (202, "recorded")


def head_of(forge: GitLabDouble) -> str:
    """Return the commit of the merge request's branch."""
    return str(forge.head_of(branch_of(forge)))


def branch_of(forge: GitLabDouble) -> str:
    """Return the merge request's branch."""
    return str(forge.merges[1]["source_branch"])
