"""Loops and answers on the real service: the shipped examples, run as their documents say."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.projects import git
from tests.acceptance.server import BACKEND, Service, ok, serving
from tests.patience import PATIENCE

LOOPS = BACKEND.parent / "examples" / "loops"


@pytest.fixture(scope="module")
def service(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(module_database_url, tmp_path_factory.mktemp("doors")) as running:
        yield running


def run(service: Service, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would."""
    command = [sys.executable, "-m", "app.cli.main", *arguments, "--url", service.url]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "PYTHONPATH": str(BACKEND)}
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=PATIENCE)


def start(service: Service, place: Path, name: str) -> dict[str, Any]:
    """Run an example by its definition, script and workspace; give the loop."""
    files = LOOPS / name
    more: list[str] = []
    if (files / "workspace").is_dir():
        repo = place / "repo"
        subprocess.run(["cp", "-r", files / "workspace", repo], check=True)
        git(repo, "init", "-q", "-b", "main")
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", "example")
        more = ["--repo", str(repo)]
    done = run(service, place, "loop", str(files / "task.xml"), "--script", str(files / "script.toml"), *more)
    assert done.returncode == 0, done.stdout + done.stderr
    with service.client() as client:
        newest = ok(client.get("/runs", params={"kind": "director_loop", "limit": 50}))["items"]
        roots = [ok(client.get(f"/loops/{each['id']}")) for each in newest]
    loop = next(each for each in roots if each["parent_run_id"] is None)
    assert loop["result"]["final_output"].strip() in done.stdout
    return loop


def test_a_min_stack_is_refined_until_its_tests_pass(service: Service, tmp_path: Path) -> None:
    loop = start(service, tmp_path, "min-stack")
    assert [each["scriptOutput"]["exitCode"] for each in loop["iterations"]] == [1, 1, 0]
    assert loop["result"]["ended_by"] == "success"
    assert loop["scripted"]


def test_a_text_is_refined_against_a_registered_evaluator(service: Service, tmp_path: Path) -> None:
    loop = start(service, tmp_path, "house-style")
    said = [each["evaluation"]["feedback"] for each in loop["iterations"]]
    assert "the first line is not the version as a heading" in said[0]
    assert [each["evaluation"]["success"] for each in loop["iterations"]] == [False, False, True]


def test_a_director_asks_for_a_subtask_which_is_shown_as_a_tree(service: Service, tmp_path: Path) -> None:
    loop = start(service, tmp_path, "bridge")
    (node,) = loop["subtasks"]
    with service.client() as client:
        subtask = ok(client.get(f"/loops/{node['run_id']}"))
    assert subtask["parent_run_id"] == loop["id"]
    assert subtask["result"]["final_output"].startswith("45 kN")
    assert "carry 45 kN" in loop["result"]["final_output"]
    shown = run(service, tmp_path, "show", loop["id"])
    assert f"subtask {node['run_id'][:8]} ✓ completed" in shown.stdout


def test_an_answer_is_written_again_until_it_is_good(service: Service, tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(
        """title = "A price"
[[phases.synthesizer]]
say = "3"
[[phases.synthesizer]]
say = "3 francs"
expects = ["the currency is missing"]
[[phases.evaluator]]
say = "The price list says more"
notes = { insufficient = { completeness = "the currency is missing" } }
[[phases.evaluator]]
say = "It is what the price list says"
"""
    )
    (tmp_path / "prices.md").write_text("price list: 3 francs\n")
    evidence = ("--entry", "@prices.md", "--rule", "Prices name their currency.")
    done = run(service, tmp_path, "answer", "What does it cost?", *evidence, "--script", "script.toml")
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (0, "3 francs"), done.stderr
