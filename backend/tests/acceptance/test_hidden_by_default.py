"""A project or the service hides a share of test cases by default: for requests, commands and issues."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.forge_scene import Scene, deliver, operator_file, settings_for, until
from tests.acceptance.projects import MENDED, git, script, step, write
from tests.acceptance.server import BACKEND, Service, ok, serving, until_rest
from tests.acceptance.test_held_out import SHARED, knows, shared
from tests.acceptance.test_sprints import start
from tests.forge_double import github_double, signed
from tests.git_http import run_git, serving_git

__all__ = ["shared"]

GOAL = "The tests in tests/test_shares.py say what half is."
TOLD = "Some cases of this goal's tests are hidden from you. All cases judge each attempt"
MENDS = script(step("Mended. Coding Complete", write("shares.py", MENDED)))
# Of six rows three are hidden. An agent that knows the other five fails where the sixth is, or passes all.
CHEATS = script(
    step(
        "Done. Coding Complete",
        write("shares.py", knows([(8, 4), (6, 3), (10, 5), (14, 7), (2, 1)])),
        expects=["the code must solve the general problem"],
    ),
    step("Mended. Coding Complete", write("shares.py", MENDED), expects=["test_halves", "general problem"]),
)


def commit_share(repo: Path, share: str) -> None:
    (repo / "phaserunner.toml").write_text(f"[tests]\nheld_out_share = {share}\n")
    git(repo, "add", "phaserunner.toml")
    git(repo, "commit", "-qm", "share")


@pytest.fixture
def scene(shared: Path, tmp_path: Path) -> Iterator[Scene]:
    commit_share(shared, "0.5")
    git(shared, "checkout", "-q", "--", "README.md")
    with serving_git(tmp_path / "served") as server:
        bare = server.create("acme/shares", shared)
        with github_double("acme/shares", server.url, bare) as forge:
            file = tmp_path / "forges.toml"
            file.write_text(operator_file(server.url, forge.url, CHEATS))
            yield Scene(forge, settings_for(str(file)))


def test_an_issue_is_judged_by_hidden_cases_and_its_pull_request_has_them(
    scene: Scene, database_url: str, tmp_path: Path
) -> None:
    forge = scene.forge
    forge.add_issue(7, "half is wrong", GOAL)
    with serving(database_url, tmp_path / "data", env=scene.env) as service, service.client() as client:
        assert deliver(service, signed(forge.labeled(7, "phaserunner"), "issues")) == (202, "recorded")
        run_id = until(lambda: [each["id"] for each in ok(client.get("/runs"))["items"]])[0]
        ended = until_rest(client, run_id)
        assert ended["status"] == "completed", ended["status_reason"]
        first, second = ended["attempts"]
        statuses = {each["evaluator"]: each["status"] for each in first["evaluations"]}
        assert statuses["held_out_tests"] == "failed"
        assert second["verdict"] == "passed"
        for number in (1, 2):
            assert TOLD in ok(client.get(f"/runs/{run_id}/attempts/coding/{number}"))["prompt"]
        assert "The share is 0.5, from held_out_share in phaserunner.toml." in ended["held_out"]["note"]
        until(lambda: any("Pull request:" in each for each in forge.comments_of(7)))
    branch = forge.pulls[100]["head"]["ref"]
    assert run_git(forge.bare, "show", f"{branch}:tests/test_shares.py") == SHARED.strip()
    assert run_git(forge.bare, "show", f"{branch}:shares.py") == MENDED.strip()
    assert run_git(forge.bare, "diff", "--name-only", f"main...{branch}") == "shares.py"
    (comment,) = forge.comments_of(7)
    assert "3 of 6 cases are hidden from the agent." in comment


@pytest.fixture(scope="module")
def hiding(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that hides half of the cases by default."""
    data = tmp_path_factory.mktemp("hiding")
    with serving(module_database_url, data, env={"SPRINT_HELD_OUT_SHARE": "0.5"}) as running:
        yield running


DEFAULTS: dict[str, tuple[dict[str, Any], int | None, str]] = {
    "the setting": ({"goal": GOAL}, 3, "from SPRINT_HELD_OUT_SHARE"),
    "a zero in the request": ({"goal": GOAL, "held_out": {"share": 0}}, None, ""),
    "a goal without tests": ({"goal": "Make half right."}, None, "is 0.5: the goal names no test in Python;"),
}


@pytest.mark.parametrize(("fields", "hidden", "told"), DEFAULTS.values(), ids=DEFAULTS.keys())
def test_a_sprint_that_says_nothing_hides_what_the_service_says(
    hiding: Service, shared: Path, fields: dict[str, Any], hidden: int | None, told: str
) -> None:
    with hiding.client() as client:
        sprint = start(client, shared, MENDS, phases=["coding"], **fields)
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        (attempt,) = ended["attempts"]
        gates = {each["evaluator"] for each in attempt["evaluations"]}
        assert ("held_out_tests" in gates) == (hidden is not None)
        prompt = ok(client.get(f"/runs/{sprint['id']}/attempts/coding/1"))["prompt"]
        assert (TOLD in prompt) == (hidden is not None)
        assert (ended["held_out"] is None) == (told == "")
        if told:
            assert told in ended["held_out"]["note"]
            assert (ended["held_out"]["cases"] or {}).get("hidden") == hidden


def test_a_share_that_only_the_agent_writes_changes_nothing(service: Service, shared: Path) -> None:
    writes = write("phaserunner.toml", "[tests]\nheld_out_share = 0.8\n")
    agent = script(step("Mended. Coding Complete", write("shares.py", MENDED), writes))
    (shared / "phaserunner.toml").write_text("[tests]\nheld_out_share = 0.5\n")  # not committed
    with service.client() as client:
        sprint = start(client, shared, agent, phases=["coding"], goal=GOAL)
        assert sprint["held_out"] is None
        ended = until_rest(client, sprint["id"])
        gates = {each["evaluator"] for each in ended["attempts"][0]["evaluations"]}
        assert "pytest" in gates
        assert "held_out_tests" not in gates


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (
            [GOAL],
            0,
            "Note: 3 of 6 cases are hidden from the agent. The share is 0.5, from SPRINT_HELD_OUT_SHARE.",
        ),
        (
            ["Make half right."],
            0,
            "Note: No test case is hidden, although SPRINT_HELD_OUT_SHARE is 0.5: the goal",
        ),
        ([GOAL, "--held-out-share", "0"], 0, ""),
        (
            ["Make half right.", "--held-out-share", "0.3"],
            2,
            "held_out.share: the goal names no test in Python",
        ),
    ],
    ids=["hidden", "nothing to hide", "switched off", "refused"],
)
def test_the_command_line_says_what_is_hidden(
    hiding: Service, shared: Path, tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    def phaserunner(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "app.cli.main", *command],
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(BACKEND),
                "HOME": str(tmp_path),
                "DATA_DIR": str(tmp_path / "data"),
                "PHASERUNNER_URL": hiding.url,
            },
        )

    done = phaserunner("run", *arguments, "--repo", str(shared), "--detach")
    assert done.returncode == code, done.stderr
    told_all = " ".join(done.stderr.split())
    assert told in told_all
    assert ("hidden" in told_all) == told.startswith("Note")
    if code == 0:
        shown = " ".join(phaserunner("show", done.stdout.strip()).stdout.split())
        assert told.removeprefix("Note: ") in shown
        phaserunner("cancel", done.stdout.strip())
