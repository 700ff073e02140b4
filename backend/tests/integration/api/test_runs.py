"""Runs of every kind under `/runs`, and what each kind's own path says about runs of another kind."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio

LOOP = {
    "type": "director_evaluator_loop",
    "description": "Refine it",
    "max_iterations": 3,
    "director": {"description": "Write"},
    "evaluator": {"description": "Judge"},
}
BODIES: dict[str, dict[str, Any]] = {
    "sprint": {"goal": "make it work", "source": {"kind": "empty"}},
    "loop": LOOP,
    "answer": {"query": "What does it cost?", "entries": ["Prices: 3 euros"]},
}
KINDS = list(BODIES)


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


async def start(api: Api, kind: str) -> dict[str, Any]:
    """Start a run of a kind."""
    started: dict[str, Any] = ok(await api.client.post(f"/api/v1/{kind}s", json=BODIES[kind]))
    return started


@pytest.mark.parametrize("kind", KINDS)
async def test_a_run_of_each_kind_is_shown_held_and_ended(api: Api, kind: str) -> None:
    started = await start(api, kind)
    url = f"/api/v1/runs/{started['id']}"
    shown = ok(await api.client.get(url))
    assert (shown["id"], shown["kind"], shown["attempts"]) == (started["id"], started["kind"], [])
    assert shown["policy"]["attempts_per_phase"] == shown["max_attempts"] == 3
    assert ok(await api.client.get(f"{url}/attempts")) == []
    assert ok(await api.client.post(f"{url}/pause", json={"reason": "lunch"}))["paused"]["reason"] == "lunch"
    assert (await api.client.post(f"{url}/pause")).status_code == 409
    assert ok(await api.client.post(f"{url}/resume"))["paused"] is None
    cancelled = ok(await api.client.post(f"{url}/cancel", json={"reason": "enough"}))
    assert (cancelled["status"], cancelled["status_reason"]) == ("cancelled", "enough")
    assert problem_of(await api.client.post(f"{url}/cancel"))["run_status"] == "cancelled"
    assert ok(await api.client.get(f"{url}/events"))["events"][-1]["event"] == "run.cancelled"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", KINDS)
async def test_a_kinds_path_says_what_a_run_of_another_kind_is(api: Api, kind: str, asked: str) -> None:
    run = await start(api, kind)
    response = await api.client.get(f"/api/v1/{asked}s/{run['id']}")
    if asked == kind:
        assert ok(response)["id"] == run["id"]
        return
    assert response.status_code == 404
    problem = problem_of(response)
    path = f"/api/v1/{kind}s/{run['id']}"
    assert (problem["kind"], problem["path"]) == (run["kind"], path)
    assert f" {kind}, not a" in problem["detail"]
    assert problem["detail"].endswith(f"see {path}")
    assert ok(await api.client.get(problem["path"]))["id"] == run["id"]


@pytest.mark.parametrize("asked", ["runs", *(f"{each}s" for each in KINDS)])
async def test_unknown_ids(api: Api, asked: str) -> None:
    unknown = uuid4()
    response = await api.client.get(f"/api/v1/{asked}/{unknown}")
    assert response.status_code == 404
    assert problem_of(response)["detail"] == f"there is no {asked.removesuffix('s')} {unknown}"


@pytest.mark.parametrize("name", ["attempts_per_phase", "max_attempts"])
async def test_attempts_per_phase_has_two_names_in_a_request(api: Api, name: str) -> None:
    body = {**BODIES["sprint"], "policy": {name: 2}}
    sprint = ok(await api.client.post("/api/v1/sprints", json=body))
    assert (sprint["policy"]["attempts_per_phase"], sprint["max_attempts"]) == (2, 2)
    assert "max_attempts" not in sprint["policy"]


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        pytest.param({"attempts_per_phase": 0}, "policy.attempts_per_phase", id="none"),
        pytest.param({"attempts_per_phase": 21}, "policy.attempts_per_phase", id="too many"),
        pytest.param({"attempts_per_phase": "three"}, "policy.attempts_per_phase", id="a word"),
        pytest.param({"max_attempts": 0}, "policy.max_attempts", id="none, by the other name"),
        pytest.param({"attempts_per_phase": 2, "max_attempts": 3}, "policy", id="both names"),
    ],
)
async def test_attempts_per_phase_that_cannot_be(api: Api, policy: dict[str, Any], field: str) -> None:
    response = await api.client.post("/api/v1/sprints", json={**BODIES["sprint"], "policy": policy})
    assert response.status_code == 422
    assert problem_of(response)["field"] == field


async def test_max_attempts_counts_what_reviewers_granted(api: Api) -> None:
    run_id, escalation_id, _ = await api.rows.waiting()
    url = f"/api/v1/escalations/{escalation_id}/resolve"
    ok(await api.client.post(url, json={"decision": "retry", "additional_attempts": 2}))
    shown = ok(await api.client.get(f"/api/v1/runs/{run_id}"))
    phases = {each["phase"]: each["max_attempts"] for each in shown["phases"]}
    assert (shown["max_attempts"], shown["policy"]["attempts_per_phase"]) == (5, 3)
    assert (phases["coding"], phases["verification"]) == (5, 3)
    listed = ok(await api.client.get("/api/v1/runs", params={"q": str(run_id)}))["items"]
    assert [each["max_attempts"] for each in listed] == [5]
    events = ok(await api.client.get(f"/api/v1/runs/{run_id}/events"))["events"]
    assert [each["data"].get("max_attempts") for each in events if "resolved" in each["event"]] == [5]
