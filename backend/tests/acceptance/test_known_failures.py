"""A reviewer adds tests to a repository's known failures; later sprints there ask no more about them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.projects import git, make_repository, script, step, write
from tests.acceptance.server import BACKEND, Service, ok, until_rest
from tests.acceptance.test_sprints import start

RED = "tests/test_shares.py::test_half_of_eight"
ADDS = script(step("Done. Coding Complete", write("names.py", 'NAME = "shares"\n')))


def repository(place: Path) -> Path:
    """Make a repository with a red test and a green one."""
    repo = make_repository(place)
    green = "from shares import half\n\n\ndef test_half_of_nothing() -> None:\n    assert half(0) == 0\n"
    (repo / "tests" / "test_nothing.py").write_text(green)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "green")
    return repo


def cli(service: Service, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command against the service."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli.main", *arguments, "--url", service.url],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(BACKEND), "HOME": str(place)},
    )


def ended(client: httpx.Client, repo: Path) -> dict[str, Any]:
    """Start a sprint that has nothing to do with the red test, and wait until it rests."""
    return until_rest(client, start(client, repo, ADDS, goal="Add a module with the name")["id"])


def test_a_later_sprint_does_not_ask_about_a_known_failure(service: Service, tmp_path: Path) -> None:
    repo, other = repository(tmp_path / "project"), repository(tmp_path / "other")
    with service.client() as client:
        asked = ended(client, repo)
        assert asked["status"] == "waiting", asked["status_reason"]
        escalation = ok(client.get("/escalations", params={"status": "open"}))["items"][0]["id"]
        questions = ok(client.get(f"/escalations/{escalation}"))["questions"]
        assert [each["tests"] for each in questions] == [[RED]]
        shown = cli(service, tmp_path, "escalations", "show", escalation)
        assert "--accept --known-failures" in shown.stdout, shown.stderr
        done = cli(service, tmp_path, "escalations", "resolve", escalation, "--accept", "--known-failures")
        assert done.returncode == 0, done.stderr
        assert until_rest(client, asked["id"])["status"] == "completed"

        quiet = ended(client, repo)
        assert quiet["status"] == "completed", quiet["status_reason"]
        assert ended(client, other)["status"] == "waiting", "another repository is not concerned"

        listed = cli(service, tmp_path, "known-failures", "--project", str(repo))
        assert RED in listed.stdout, listed.stderr
        assert not ok(client.get("/known-failures", params={"project": str(other)}))["items"]
        removed = cli(service, tmp_path, "known-failures", "remove", str(repo), RED)
        assert removed.stdout == "Removed 1\n", removed.stderr
        assert ended(client, repo)["status"] == "waiting"
