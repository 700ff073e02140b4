"""Whole sprints on the real service, over HTTP and WebSocket, from the request to the fetched branch."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.sync.client import connect

from tests.acceptance.projects import (
    MENDED,
    MENDS_WHEN_TOLD,
    NEVER_MENDS,
    TEST,
    VERIFICATION,
    git,
    make_repository,
    script,
    step,
    write,
)
from tests.acceptance.server import Service, ok, until_rest
from tests.patience import PATIENCE


def start(client: httpx.Client, repo: Path, agent: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {
        "goal": "half(8) must be 4; the tests say so.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": agent,
        **more,
    }
    return ok(client.post("/sprints", json=body))


def all_events(client: httpx.Client, sprint_id: str) -> list[dict[str, Any]]:
    return ok(client.get(f"/runs/{sprint_id}/events", params={"limit": 1000}))["events"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "my project")


def test_a_sprint_fails_is_told_why_and_passes(service: Service, repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    before = git(repo, "status", "--porcelain")
    with service.client() as client:
        sprint = start(client, repo, MENDS_WHEN_TOLD)
        assert sprint["scripted"] is True
        assert "no model" in sprint["agent"]
        assert "1 file has uncommitted changes" in " ".join(sprint["source"]["notes"])
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]

        attempts = {(each["phase"], each["number"]): each for each in ended["attempts"]}
        assert list(attempts) == [("discovery", 1), ("coding", 1), ("coding", 2), ("verification", 1)]
        failed = attempts["coding", 1]
        verdicts = {each["evaluator"]: each["status"] for each in failed["evaluations"]}
        assert (failed["verdict"], verdicts["ruff_lint"], verdicts["pytest"]) == (
            "failed",
            "failed",
            "failed",
        )
        assert attempts["coding", 2]["verdict"] == "passed"
        traces = {each["trace_id"] for each in ended["attempts"]}
        traces |= {each["trace_id"] for attempt in ended["attempts"] for each in attempt["evaluations"]}
        assert len(traces) == 1, "the whole sprint is one trace"
        assert None not in traces

        retry = ok(client.get(f"/runs/{sprint['id']}/attempts/coding/2"))
        assert "test_half_of_eight" in retry["prompt"]
        assert "FIX:" in retry["prompt"]
        assert "attempt 2 of 3" in retry["prompt"]

        patch = client.get(f"/runs/{sprint['id']}/result.patch")
        assert "amount // 2" in patch.text
        bundle = client.get(f"/runs/{sprint['id']}/result.bundle")
        (repo.parent / "result.bundle").write_bytes(bundle.content)

    git(repo, "fetch", "-q", str(repo.parent / "result.bundle"), "+refs/heads/*:refs/remotes/result/*")
    branch = git(repo, "for-each-ref", "--format=%(refname)", "refs/remotes/result").splitlines()[0]
    assert git(repo, "show", f"{branch}:shares.py") + "\n" == MENDED
    assert git(repo, "merge-base", branch, head) == head, "the result attaches to the user's own history"
    assert git(repo, "rev-parse", "HEAD") == head
    assert git(repo, "status", "--porcelain") == before, "the user's tree is never touched"


def test_events_are_complete_and_resume(service: Service, repo: Path) -> None:
    with service.client() as client:
        sprint = start(client, repo, MENDS_WHEN_TOLD)
        socket_url = service.url.replace("http", "ws", 1) + f"/api/v1/ws/runs/{sprint['id']}"
        live: list[dict[str, Any]] = []
        with connect(f"{socket_url}?after=0") as socket:
            while not live or live[-1]["event"] != "workflow.completed":
                message = json.loads(socket.recv(timeout=PATIENCE))
                if "event" in message:
                    live.append(message)
        assert [each["sequence"] for each in live] == list(range(1, len(live) + 1))
        assert all_events(client, sprint["id"]) == live

        seen = {each["event"] for each in live}
        assert seen >= {
            "run.created",
            "workflow.started",
            "phase.started",
            "attempt.started",
            "candidate.started",
            "tool.called",
            "tool.result",
            "candidate.generated",
            "attempt.produced",
            "evaluation.started",
            "evaluator.completed",
            "evaluation.completed",
            "optimization.started",
            "phase.completed",
            "workflow.completed",
        }
        assert all(each["run_id"] == each["sprint_id"] == sprint["id"] for each in live)

        middle = len(live) // 2
        for address in (socket_url, socket_url.replace("/ws/runs/", "/ws/sprints/")):
            with connect(f"{address}?after={middle}") as socket:
                resumed: list[dict[str, Any]] = []
                while len(resumed) < len(live) - middle:
                    message = json.loads(socket.recv(timeout=PATIENCE))
                    if "event" in message:
                        resumed.append(message)
            assert resumed == live[middle:], "by the former address, too"

        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(middle)}
        with client.stream("GET", f"/runs/{sprint['id']}/events", headers=headers) as stream:
            ids = [int(line[3:].partition("@")[0]) for line in stream.iter_lines() if line.startswith("id:")]
        assert ids == list(range(middle + 1, len(live) + 1))


def test_an_escalation_is_retried_with_guidance_then_passes(service: Service, repo: Path) -> None:
    with service.client() as client:
        sprint = start(client, repo, NEVER_MENDS)
        waiting = until_rest(client, sprint["id"])
        assert waiting["status"] == "waiting"
        escalation = waiting["escalations"][0]
        assert (escalation["reason_kind"], escalation["attempt"]) == ("attempts_exhausted", 3)
        assert waiting["escalation_id"] == escalation["id"]

        answer = {
            "decision": "retry",
            "guidance": "Please divide by two.",
            "line_comments": [{"path": "shares.py", "line": 5, "body": "The divisor is wrong."}],
            "additional_attempts": 2,
            "version": escalation["version"],
        }
        url = f"/escalations/{escalation['id']}/resolve"
        first = client.post(url, json=answer, headers={"X-PhaseRunner-User": "ada"})
        assert ok(first)["decided_by"] == "ada"
        second = client.post(url, json={"decision": "reject"}, headers={"X-PhaseRunner-User": "bob"})
        assert second.status_code == 409
        assert second.json()["decided_by"] == "ada"
        assert second.json()["decided_at"]
        assert "ada" in second.json()["detail"]

        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        prompt = ok(client.get(f"/runs/{sprint['id']}/attempts/coding/4"))["prompt"]
        assert "Please divide by two." in prompt
        assert "shares.py:5: The divisor is wrong." in prompt


def test_an_escalation_is_accepted(service: Service, repo: Path) -> None:
    with service.client() as client:
        # Verification judges again what was accepted, so it has to hold there without the broken test.
        sprint = start(client, repo, NEVER_MENDS, phases=["discovery", "coding"])
        escalation = until_rest(client, sprint["id"])["escalations"][0]
        ok(client.post(f"/escalations/{escalation['id']}/resolve", json={"decision": "accept"}))
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed"
        completed = [each for each in all_events(client, sprint["id"]) if each["event"] == "phase.completed"]
        assert completed[-1]["data"]["accepted_by"]
        assert ended["attempts"][-1]["verdict"] == "failed", "accepting rewrites no verdict"


def test_an_escalation_is_rejected(service: Service, repo: Path) -> None:
    with service.client() as client:
        sprint = start(client, repo, NEVER_MENDS, policy={"max_attempts": 1})
        escalation = until_rest(client, sprint["id"])["escalations"][0]
        ok(client.post(f"/escalations/{escalation['id']}/resolve", json={"decision": "reject"}))
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "failed"
        again = client.post(f"/runs/{sprint['id']}/cancel", json={})
        assert again.status_code == 409


def test_without_a_key_the_sprint_waits_and_burns_nothing(service: Service, repo: Path) -> None:
    with service.client() as client:
        sprint = start(
            client, repo, {"backend": "pydantic-ai", "model": "anthropic:claude-sonnet-4-20250514"}
        )
        waiting = until_rest(client, sprint["id"])
        assert waiting["status"] == "waiting"
        assert "ANTHROPIC_API_KEY" in waiting["status_reason"]
        assert waiting["escalations"][0]["reason_kind"] == "agent_unavailable"
        assert [each["verdict"] for each in waiting["attempts"]] == [None]
        url = f"/escalations/{waiting['escalations'][0]['id']}/resolve"
        accepted = client.post(url, json={"decision": "accept"})
        assert accepted.status_code == 409, "there is nothing to accept"


def test_a_stuck_agent_is_noticed(service: Service, repo: Path) -> None:
    same = step(
        "I am done. Coding Complete", write("shares.py", "def half(amount: int) -> int:\n    return 0\n")
    )
    with service.client() as client:
        waiting = until_rest(client, start(client, repo, script(same))["id"])
        assert waiting["escalations"][0]["reason_kind"] == "no_progress"
        assert len([each for each in waiting["attempts"] if each["phase"] == "coding"]) == 2


def test_a_claim_of_success_is_not_enough(service: Service, repo: Path) -> None:
    broken = step("All tests pass! Coding Complete")
    claims = script(broken, verification=VERIFICATION)
    with service.client() as client:
        sprint = start(client, repo, claims, phases=["verification"], policy={"max_attempts": 1})
        waiting = until_rest(client, sprint["id"])
        assert waiting["status"] == "waiting"
        verdicts = {each["evaluator"]: each["status"] for each in waiting["attempts"][0]["evaluations"]}
        assert (verdicts["agent_claim"], verdicts["pytest"]) == ("passed", "failed")


EXPECTS_LESS = TEST.replace("== 4", "== 2")


@pytest.mark.parametrize(
    ("policy", "status", "verdict"),
    [
        pytest.param({"max_attempts": 1}, "waiting", "failed", id="protected"),
        pytest.param({"max_attempts": 1, "open_paths": ["tests/*.py"]}, "completed", "passed", id="opened"),
    ],
)
def test_tests_are_changed_only_where_that_was_allowed(
    service: Service, repo: Path, policy: dict[str, Any], status: str, verdict: str
) -> None:
    weakened = step("Done. Coding Complete", write("tests/test_shares.py", EXPECTS_LESS))
    with service.client() as client:
        sprint = start(client, repo, script(weakened), phases=["coding"], policy=policy)
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == status, ended["status_reason"]
        results = {each["evaluator"]: each for each in ended["attempts"][0]["evaluations"]}
        # The base's version judges unless its path is open.
        assert results["pytest"]["status"] == verdict
        assert "tests/test_shares.py" in results["protected_files"]["feedback"]


GATED = """
[evaluators.type_check]
enabled = false

[[command]]
name = "no_thirds"
run = "! grep -n '// 3' shares.py"
phases = ["coding"]
"""


def commit_project_file(repo: Path, text: str) -> None:
    (repo / "phaserunner.toml").write_text(text)
    git(repo, "add", "phaserunner.toml")
    git(repo, "commit", "-q", "-m", "what judges")


def test_a_project_chooses_what_judges_it(service: Service, repo: Path) -> None:
    commit_project_file(repo, GATED)
    frees_itself = step(
        "Done. Coding Complete",
        *(write("shares.py", MENDED + "# 8 // 3\n"), write("phaserunner.toml", "command = []\n")),
    )
    mends = step("Done. Coding Complete", write("shares.py", MENDED), write("phaserunner.toml", GATED))
    with service.client() as client:
        sprint = start(client, repo, script(frees_itself, mends), phases=["coding", "verification"])
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        first, second, verification = ended["attempts"]
        results = {each["evaluator"]: each for each in first["evaluations"]}
        assert "type_check" not in results
        assert (results["no_thirds"]["status"], results["no_thirds"]["gate"]) == ("failed", True)
        assert "3:# 8 // 3" in results["no_thirds"]["feedback"]
        assert results["protected_files"]["status"] == "failed"
        assert (results["project_file"]["gate"], results["project_file"]["passed"]) == (False, True)
        assert {each["evaluator"]: each["status"] for each in second["evaluations"]}["no_thirds"] == "passed"
        assert "no_thirds" not in {each["evaluator"] for each in verification["evaluations"]}
        begun = [each for each in all_events(client, sprint["id"]) if each["event"] == "evaluation.started"]
        assert ["no_thirds" in each["data"]["evaluators"] for each in begun] == [True, True, False]


def test_a_wrong_project_file_passes_nothing_and_asks_a_human(service: Service, repo: Path) -> None:
    commit_project_file(repo, "[evaluators.pytest]\ntimeut = 3\n")
    mends = step("Done. Coding Complete", write("shares.py", MENDED))
    with service.client() as client:
        sprint = start(client, repo, script(mends), phases=["coding"])
        waiting = until_rest(client, sprint["id"])
        assert waiting["status"] == "waiting"
        (escalation,) = waiting["escalations"]
        assert escalation["reason_kind"] == "evaluator_unavailable"
        assert "phaserunner.toml:2: evaluators.pytest.timeut" in escalation["reason"]
        assert [each["evaluator"] for each in waiting["attempts"][0]["evaluations"]] == ["project_file"]


def test_a_running_sprint_is_cancelled(service: Service, repo: Path) -> None:
    slow = step("Slow. Coding Complete", {**write("shares.py", MENDED), "pause_seconds": 5.0})
    with service.client() as client:
        sprint = start(client, repo, script(slow), phases=["coding"])
        socket_url = service.url.replace("http", "ws", 1) + f"/api/v1/ws/runs/{sprint['id']}?after=0"
        with connect(socket_url) as socket:
            while json.loads(socket.recv(timeout=PATIENCE)).get("event") != "candidate.started":
                pass
        cancelled = ok(client.post(f"/runs/{sprint['id']}/cancel", json={"reason": "wrong goal"}))
        assert cancelled["status"] == "cancelled"
        assert client.post(f"/runs/{sprint['id']}/cancel", json={}).status_code == 409
        assert all_events(client, sprint["id"])[-1]["event"] == "run.cancelled"


def test_candidates_compete_and_the_gates_choose(service: Service, repo: Path) -> None:
    good = step("Done. Coding Complete", write("shares.py", MENDED))
    with service.client() as client:
        agent = {**script(good), "candidates": 2}
        sprint = start(client, repo, agent, phases=["coding"])
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        detail = ok(client.get(f"/runs/{sprint['id']}/attempts/coding/1"))
        assert [each["chosen"] for each in detail["candidates"]].count(True) == 1
        assert all(each["evaluations"] for each in detail["candidates"])


def test_the_same_request_twice_makes_one_sprint(service: Service, repo: Path) -> None:
    body = {
        "goal": "Once.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": MENDS_WHEN_TOLD,
        "phases": ["discovery"],
    }
    with service.client() as client:
        key = {"Idempotency-Key": str(uuid4())}
        first, second = (ok(client.post("/sprints", json=body, headers=key)) for _ in range(2))
        assert first["id"] == second["id"]
        other = client.post("/sprints", json={**body, "goal": "Twice."}, headers=key)
        assert other.status_code in (409, 422)


def test_an_empty_project_and_a_goal_in_any_script(service: Service) -> None:
    code = write("greet.py", "def greet(name: str) -> str:\n    return f'hello {name}'\n")
    test = write(
        "tests/test_greet.py",
        "from greet import greet\n\n\ndef test_greet() -> None:\n    assert greet('ada') == 'hello ada'\n",
    )
    with service.client() as client:
        agent = script(step("New. Coding Complete", code, test))
        body = {"goal": "挨拶 🙂 \u202eabc", "source": {"kind": "empty"}, "agent": agent}
        ended = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        assert ended["goal"] == body["goal"]
