"""The baseline over HTTP and on the command line: what the base's tests did before anything was done."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.acceptance.projects import MENDED, make_repository, script, step, write
from tests.acceptance.server import BACKEND, Service, ok, until_rest
from tests.acceptance.test_sprints import all_events, start

MENDS = script(step("Done. Coding Complete", write("shares.py", MENDED)))
RED = "tests/test_shares.py::test_half_of_eight"


def test_a_sprint_shows_what_was_red_and_a_later_one_takes_it_over(service: Service, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    with service.client() as client:
        for reused in (False, True):
            sprint = start(client, repo, MENDS)
            ended = until_rest(client, sprint["id"])
            assert ended["status"] == "completed", ended["status_reason"]
            assert ended["baseline"]["note"] == ("1 test is red at the base; 0 of 1 pass at the base.")
            assert [each["id"] for each in ended["baseline"]["red_tests"]] == [RED]
            whole = ok(client.get(f"/runs/{sprint['id']}/baseline"))
            assert whole["reused"] is reused
            assert "assert 2 == 4" in whole["baseline"]["red"][0]["message"]
            names = [each["event"] for each in all_events(client, sprint["id"])]
            assert names.count("baseline.completed") == 1
            assert names.index("baseline.completed") < names.index("phase.completed")
        missing = client.get("/runs/00000000-0000-0000-0000-000000000000/baseline")
        assert missing.status_code == 404


def evaluate(repo: Path, place: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Evaluate a directory on the command line."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli.main", "evaluate", str(repo), "--deterministic-only", *more],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(BACKEND),
            "HOME": str(place),
            "DATA_DIR": str(place / "data"),
        },
    )


def test_an_evaluation_measures_a_baseline_if_it_is_asked_to(tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    (repo / "shares.py").write_text(MENDED)
    done = evaluate(repo, tmp_path, "--base", "HEAD", "--baseline", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each["id"] for each in json.loads(done.stdout)["baseline"]["red_tests"]] == [RED]
    refused = evaluate(repo, tmp_path, "--baseline")
    assert refused.returncode == 2
    assert "baseline" in refused.stderr
    assert "base" in refused.stderr
