"""Held-out tests over HTTP and on the command line: they decide, and no byte of them reaches an agent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.projects import MENDED, TEST, git, make_repository, script, step, write
from tests.acceptance.server import BACKEND, Service, ok, until_rest
from tests.acceptance.test_sprints import start

MARKER = "1298074214633706907132624082305024"
HIDDEN = (
    "from shares import half\n\n\ndef test_unseen_share() -> None:\n"
    f"    assert half({2 * int(MARKER)}) == {MARKER}\n"
)
HARD_CODED = "def half(amount: int) -> int:\n    return {8: 4}.get(amount, 0)\n"
PATCH = "--- /dev/null\n+++ b/tests/test_unseen.py\n@@ -0,0 +1,5 @@\n" + "".join(
    f"+{line}\n" for line in HIDDEN.splitlines()
)
ANOTHER_BASE = (
    "--- a/tests/test_shares.py\n+++ b/tests/test_shares.py\n@@ -1 +1 @@\n-import other\n+import shares\n"
)
LEARNS = script(
    step("Done. Coding Complete", write("shares.py", HARD_CODED)),
    step("Mended. Coding Complete", write("shares.py", MENDED), expects=["test_unseen_share"]),
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def all_objects(repository: Path) -> bytes:
    """Give all that lies in a repository, reachable or not."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout


def test_work_that_knows_the_visible_tests_only_fails(service: Service, repo: Path, tmp_path: Path) -> None:
    with service.client() as client:
        sprint = start(client, repo, LEARNS, held_out={"patch": PATCH})
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        first, second = [each for each in ended["attempts"] if each["phase"] == "coding"]
        verdicts = {each["evaluator"]: each for each in first["evaluations"]}
        assert verdicts["pytest"]["status"] == "passed"
        assert verdicts["held_out_tests"]["status"] == "failed"
        assert verdicts["held_out_tests"]["gate"]
        assert MARKER in json.dumps(verdicts["held_out_tests"]["metadata"]), "reviewers see all of it"
        assert second["verdict"] == "passed"
        assert ended["held_out"]["files"] == ["tests/test_unseen.py"]
        assert ended["held_out"]["at_base"]["passing"] == []
        assert "None of 1 held-out test" in ended["held_out"]["note"]

        run = f"/runs/{sprint['id']}"
        seen = [client.get(f"{run}/result.patch").text]
        seen.append(client.get(f"{run}/events", params={"limit": 1000}).text)
        for each in ended["attempts"]:
            detail = ok(client.get(f"{run}/attempts/{each['phase']}/{each['number']}"))
            assert "Tests that are hidden from you judge each attempt" in detail["prompt"]
            seen += [detail["prompt"], json.dumps(detail["optimization_context"]), detail["output"]]
        assert [text for text in seen if MARKER in text or "test_unseen_share()" in text] == []
        assert "held_out.checked" in seen[1]

        bundle = tmp_path / "result.bundle"
        bundle.write_bytes(client.get(f"{run}/result.bundle").content)
        git(repo, "fetch", "-q", str(bundle), "+refs/heads/*:refs/remotes/result/*")
        kept = next(service.log.parent.glob(f"runs/{sprint['id']}/repo.git"))
        assert MARKER.encode() not in all_objects(repo) + all_objects(kept)
        files = [each for each in service.log.parent.rglob("*") if each.is_file()]
        assert [each for each in files if MARKER.encode() in each.read_bytes()] == []

        fork = ok(client.post(f"{run}/fork", json={"phase": "coding", "attempt": 1}))
        assert fork["held_out"]["files"] == ["tests/test_unseen.py"]


@pytest.mark.parametrize(
    ("held_out", "field", "says"),
    [
        (
            {"patch": ANOTHER_BASE},
            "held_out.patch",
            "tests/test_shares.py, the hunk at line 1",
        ),
        ({"files": {"shares.py": MENDED}}, "held_out", "shares.py is not a test file"),
        ({"files": {"../test_a.py": "x"}}, "held_out", "inside the workspace"),
        ({"files": {"tests/test_b.py": TEST}}, "held_out", "every agent can read it"),
        ({}, "held_out", "either patch, files or share"),
    ],
)
def test_what_cannot_be_held_out_is_refused(
    service: Service, repo: Path, held_out: dict[str, object], field: str, says: str
) -> None:
    with service.client() as client:
        body = {
            "goal": "half",
            "source": {"kind": "local", "path": str(repo)},
            "agent": LEARNS,
            "held_out": held_out,
        }
        refused = client.post("/sprints", json=body)
        assert refused.status_code == 422
        assert field in refused.text
        assert says in refused.text
        assert MARKER not in refused.text


def test_a_directory_is_evaluated_by_them(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "tests").mkdir(parents=True)
    (tmp_path / "hidden" / "tests" / "test_unseen.py").write_text(HIDDEN)
    for code, status in ((HARD_CODED, 1), (MENDED, 0)):
        (repo / "shares.py").write_text(code)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "app.cli.main", "evaluate", str(repo), "--base", "HEAD"),
                *("--held-out", str(tmp_path / "hidden"), "--deterministic-only", "--json"),
            ],
            capture_output=True,
            text=True,
            check=False,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(BACKEND),
                "HOME": str(tmp_path),
                "DATA_DIR": str(tmp_path / "data"),
            },
        )
        assert done.returncode == status, done.stdout + done.stderr
        report = json.loads(done.stdout)
        results = {each["result"]["evaluator_name"]: each["result"] for each in report["evaluations"]}
        assert results["pytest"]["status"] == "passed"
        assert results["held_out_tests"]["passed"] is (status == 0)
        assert report["held_out"]["failing"] == 1
    assert not (repo / "tests" / "test_unseen.py").exists()


SHARED = (
    "import pytest\n\nfrom shares import half\n\n\n"
    '@pytest.mark.parametrize(("amount", "expected"), [(8, 4), (6, 3), (10, 5), (14, 7), (2, 1), (12, 6)])\n'
    "def test_halves(amount: int, expected: int) -> None:\n    assert half(amount) == expected\n"
)


def knows(rows: list[tuple[int, int]]) -> str:
    """Code that answers only what an agent reads in its tests."""
    return f"def half(amount: int) -> int:\n    return {dict(rows)!r}.get(amount, 0)\n"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    made = make_repository(tmp_path / "project")
    (made / "tests" / "test_shares.py").write_text(SHARED)
    git(made, "commit", "-qam", "more rows")
    return made


def test_an_agent_sees_a_share_of_the_cases_and_the_result_holds_all(
    service: Service, shared: Path, tmp_path: Path
) -> None:
    cheats = knows([(8, 4), (6, 3), (10, 5), (14, 7), (2, 1)])
    agent = script(
        step("Done. Coding Complete", write("shares.py", cheats)),
        step("Mended. Coding Complete", write("shares.py", MENDED), expects=["test_halves"]),
    )
    head = git(shared, "rev-parse", "HEAD")
    with service.client() as client:
        # Of six rows three are hidden. Cheating with five of them fails where the sixth is, or passes all.
        sprint = start(
            client,
            shared,
            agent,
            goal="The tests in tests/test_shares.py say what half is.",
            held_out={"share": 0.5},
        )
        assert sprint["held_out"]["cases"]["hidden"] == 3
        assert sprint["held_out"]["cases"]["base"] == head
        assert "3 of 6 cases are hidden from the agent" in sprint["held_out"]["note"]
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        run = f"/runs/{sprint['id']}"
        first, second = [each for each in ended["attempts"] if each["phase"] == "coding"]
        assert {each["evaluator"]: each["status"] for each in first["evaluations"]}[
            "held_out_tests"
        ] == "failed"
        assert second["verdict"] == "passed"
        prompt = ok(client.get(f"{run}/attempts/coding/1"))["prompt"]
        assert prompt.count("Some cases of this goal's tests are hidden from you.") == 1
        # What the agent started from has half of the rows, and no file of the service has all of them.
        kept = next(service.log.parent.glob(f"runs/{sprint['id']}/repo.git"))
        shown = git(kept, "show", f"{ended['base_commit']}:tests/test_shares.py")
        assert shown.count("), (") == 2
        assert SHARED.encode() not in all_objects(kept)
        assert "expected" not in client.get(f"{run}/result.patch").text, "tests did not change"

        made = ok(client.post(f"{run}/result/branch", json={"branch": "halves"}))
        assert made["created"]
        assert git(shared, "show", "halves:tests/test_shares.py") == SHARED.strip()
        assert git(shared, "show", "halves:shares.py") == MENDED.strip()
        assert git(shared, "diff", "--stat", "main", "halves").count("|") == 2, "the plan and the code"
        assert git(shared, "merge-base", "main", "halves") == head
        assert not ok(client.post(f"{run}/result/branch", json={"branch": "halves"}))["created"]
        merge = ok(client.get(f"{run}/result/merge"))
        assert (merge["state"], merge["moved"]) == ("clean", False)

        bundle = tmp_path / "result.bundle"
        bundle.write_bytes(client.get(f"{run}/result.bundle").content)
        git(shared, "fetch", "-q", str(bundle), "+refs/heads/*:refs/remotes/result/*")
        name = f"result/phaserunner/{sprint['id'][:8]}"
        assert git(shared, "rev-parse", name) == git(shared, "rev-parse", "halves")
        git(shared, "fsck", "--strict")

        fork = ok(client.post(f"{run}/fork", json={"phase": "coding", "attempt": 1}))
        assert fork["held_out"]["cases"]["hidden"] == 3


@pytest.mark.parametrize(
    ("goal", "held_out", "says"),
    [
        ("Make half right.", {"share": 0.5}, "the goal names no test in Python"),
        ("See tests/test_few.py.", {"share": 0.5}, "no case of the goal's tests can be hidden"),
        ("See tests/test_shares.py.", {"share": -0.1}, "greater than or equal to 0"),
        ("See tests/test_shares.py.", {"share": True}, "valid number"),
        ("See tests/test_shares.py.", {"share": "abc"}, "valid number"),
        ("See tests/test_shares.py.", {"share": 0.9}, "less than or equal to 0.8"),
        ("See tests/test_shares.py.", {"share": 0.5, "patch": PATCH}, "either patch, files or share"),
    ],
)
def test_a_share_that_cannot_be_hidden_is_refused(
    service: Service, shared: Path, goal: str, held_out: dict[str, object], says: str
) -> None:
    (shared / "tests" / "test_few.py").write_text(TEST)
    git(shared, "add", "-A")
    git(shared, "commit", "-qm", "few")
    with service.client() as client:
        source = {"kind": "local", "path": str(shared)}
        body = {"goal": goal, "source": source, "agent": LEARNS, "held_out": held_out}
        refused = client.post("/sprints", json=body)
        assert refused.status_code == 422
        assert "held_out" in refused.text
        assert says in refused.text
        assert not [
            each
            for each in service.log.parent.glob("runs/*/repo.git")
            if SHARED.encode() in all_objects(each)
        ]
