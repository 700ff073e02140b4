"""Two results that pass alone and break each other: the later one goes back to its agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.forge_scene import Scene, deliver, operator_file, settings_for, toml_value, until
from tests.acceptance.projects import MENDED, git, make_repository, script, step, write
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.forge_double import GitHubDouble, github_double, signed
from tests.git_http import TOKEN, run_git, serving_git

RENAMED_TEST = "from shares import halve\n\n\ndef test_it() -> None:\n    assert halve(8) == 4\n"
QUARTER = "import shares\n\n\ndef quarter(n: int) -> int:\n    return shares.half(shares.half(n))\n"
QUARTER_TEST = "from quarters import quarter\n\n\ndef test_quarter() -> None:\n    assert quarter(8) == 2\n"
ADAPTED = QUARTER.replace("shares.half", "shares.halve")
RENAMES = script(
    step(
        "Renamed. Coding Complete",
        write("shares.py", MENDED.replace("half", "halve")),
        write("tests/test_shares.py", RENAMED_TEST),
    )
)
QUARTERS = script(
    step(
        "Quartered. Coding Complete",
        write("quarters.py", QUARTER),
        write("tests/test_quarters.py", QUARTER_TEST),
    )
)
ADAPTS = script(
    step(
        "Adapted. Coding Complete",
        write("quarters.py", ADAPTED),
        expects=["cannot be merged", "with #100 at", "so that both hold"],
    )
)
OPEN = {"open_paths": ["**"]}
REVIEW = f"""
[repositories.review]
rounds = 2
settle_seconds = 0.2
agent = {toml_value(ADAPTS)}
policy = {toml_value(OPEN)}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    project = make_repository(tmp_path / "project")
    git(project, "checkout", "-q", "--", "README.md")
    (project / "shares.py").write_text(MENDED)
    git(project, "commit", "-q", "-a", "-m", "mend")
    with serving_git(tmp_path / "served") as server:
        bare = server.create("acme/shares", project)
        with github_double("acme/shares", server.url, bare) as forge:
            file = tmp_path / "forges.toml"
            file.write_text(operator_file(server.url, forge.url, RENAMES, REVIEW))
            forge.add_issue(7, "Say halve", "A verb.")
            forge.add_issue(8, "Quarter amounts", "As two halves.")
            yield Scene(forge, settings_for(str(file)))


def test_the_later_result_is_adapted_and_offered_when_the_earlier_one_is_merged(
    scene: Scene, database_url: str, tmp_path: Path
) -> None:
    forge = scene.forge
    with serving(database_url, tmp_path / "data", env=scene.env) as service, service.client() as client:
        first = start(client, forge, 7, RENAMES)
        until(lambda: 100 in forge.pulls)
        later = start(client, forge, 8, QUARTERS)
        review = until(lambda: review_of(client, later, "working"))
        assert review["reason"] == "round 1 of 2: the result cannot be merged as it is"
        round_id = review["round_run_id"]
        ended = until_rest(client, round_id)
        assert ended["status"] == "completed", ended["status_reason"]
        (comment,) = until(lambda: [each for each in forge.comments_of(8) if "builds on" in each])
        assert "The result is not offered: it builds on &#35;100" in comment
        assert list(forge.pulls) == [100], "its changes alone would break the target"
        send(service, forge.merge(100, "squash"))
        until(lambda: 101 in forge.pulls)
        until(lambda: review_of(client, later, "watching"))
        assert ok(client.get(f"/runs/{round_id}"))["forge"]["root_run_id"] == later
        for run_id in (later, round_id):
            assert ok(client.get(f"/runs/{run_id}"))["forge"]["pull_number"] == 101
        check_pull(forge, later)
        assert len(forge.comments_of(8)) == 1
        send(service, forge.merge(101))
        until(lambda: review_of(client, later, "ended"))
        assert ok(client.get(f"/runs/{first}"))["forge"]["outcome"] == "merged"
    assert TOKEN not in repr(forge.exchanges)


def check_pull(forge: GitHubDouble, run_id: str) -> None:
    """The pull request lies on the target and holds the changes of its own run only."""
    branch = forge.pulls[101]["head"]["ref"]
    assert branch == f"phaserunner/{run_id[:8]}"
    assert run_git(forge.bare, "rev-parse", f"{branch}^") == forge.head_of("main")
    changed = run_git(forge.bare, "diff", "--name-only", "main", branch).splitlines()
    assert changed == ["quarters.py", "tests/test_quarters.py"]
    assert run_git(forge.bare, "show", f"{branch}:quarters.py") == ADAPTED.strip()
    assert "shares.py |" not in forge.pulls[101]["body"]


def test_a_result_whose_forerunner_is_closed_is_judged_without_it(
    scene: Scene, database_url: str, tmp_path: Path
) -> None:
    forge = scene.forge
    with serving(database_url, tmp_path / "data", env=scene.env) as service, service.client() as client:
        start(client, forge, 7, RENAMES)
        until(lambda: 100 in forge.pulls)
        later = start(client, forge, 8, QUARTERS)
        round_id = until(lambda: review_of(client, later, "working"))["round_run_id"]
        until(lambda: [each for each in forge.comments_of(8) if "builds on" in each])
        # Without the renamed function the adapted work fails, so it goes back once more.
        send(service, forge.ended(100, merged=False))
        second = until(lambda: newer_round(client, later, round_id))
        ended = until_rest(client, second["round_run_id"])
        assert (second["rounds"], ended["status"]) == (2, "waiting"), "its script knows no such reason"
        assert "with #100" not in str(ended["guidance"])
        ok(client.post(f"/runs/{ended['id']}/cancel", json={"reason": "not now"}))
        review = until(lambda: review_of(client, later, "stopped"))
        assert review["reason"].endswith("its sprint is cancelled; a person has to go on")
    assert list(forge.pulls) == [100]


def start(client: httpx.Client, forge: GitHubDouble, issue: int, agent: dict[str, Any]) -> str:
    """Start a sprint for an issue; gives its run."""
    url = forge.issues[issue]["html_url"]
    body = {"issue": url, "agent": agent, "phases": ["coding"], "policy": OPEN}
    return ok(client.post("/forges/issues", json=body))["id"]


def review_of(client: httpx.Client, run_id: str, state: str) -> dict[str, Any] | None:
    """Return what the API says of a run's review if it is in a state."""
    review: dict[str, Any] | None = ok(client.get(f"/runs/{run_id}"))["forge"]["review"]
    return review if review is not None and review["state"] == state else None


def newer_round(client: httpx.Client, run_id: str, than: str) -> dict[str, Any] | None:
    """Return the review if another round has begun."""
    review = ok(client.get(f"/runs/{run_id}"))["forge"]["review"]
    return review if review["round_run_id"] != than else None


def send(service: Service, payload: dict[str, Any]) -> None:
    """Deliver what became of a pull request."""
    assert deliver(service, signed(payload, "pull_request")) == (202, "recorded")
