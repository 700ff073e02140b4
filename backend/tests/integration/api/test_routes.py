"""The routes together: what a client does from starting a sprint to deciding about it."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.workspaces.confine.sandbox import Sandbox
from tests.integration.api.support import Api, problem_of
from tests.integration.services.support import git, make_repository

pytestmark = pytest.mark.anyio

SPRINT = {"goal": "make it work", "source": {"kind": "empty"}}


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


async def test_a_sprint_is_started_listed_shown_and_cancelled(api: Api, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "my project")
    body = {**SPRINT, "name": f"name {uuid4()}", "source": {"kind": "local", "path": str(repo)}}
    response = await api.client.post("/api/v1/sprints", json=body, headers={"X-PhaseRunner-User": "ada"})
    sprint = ok(response)
    assert response.status_code == 201
    assert (sprint["created_by"], sprint["base_commit"]) == ("ada", git(repo, "rev-parse", "HEAD"))
    assert sprint["source"]["notes"]

    shown = ok(await api.client.get(f"/api/v1/runs/{sprint['id']}"))
    assert shown == sprint
    for path in ("sprints", "runs"):
        page = ok(await api.client.get(f"/api/v1/{path}", params={"q": body["name"]}))
        assert [each["id"] for each in page["items"]] == [sprint["id"]]
        assert page["next_cursor"] is None
    states = [("status", "queued"), ("status", "active"), ("q", body["name"])]
    assert ok(await api.client.get("/api/v1/sprints", params=states))["items"]
    assert ok(await api.client.get(f"/api/v1/runs/{sprint['id']}/attempts")) == []

    cancelled = ok(await api.client.post(f"/api/v1/runs/{sprint['id']}/cancel", json={"reason": "why"}))
    assert (cancelled["status"], cancelled["status_reason"]) == ("cancelled", "why")
    again = await api.client.post(f"/api/v1/runs/{sprint['id']}/cancel")
    assert again.status_code == 409
    assert problem_of(again)["run_status"] == "cancelled"
    events = ok(await api.client.get(f"/api/v1/runs/{sprint['id']}/events"))["events"]
    assert [each["event"] for each in events] == ["run.created", "run.cancelled"]


async def test_a_decision_and_the_one_that_came_too_late(api: Api) -> None:
    _, escalation_id, evaluation_id = await api.rows.waiting()
    waiting = ok(await api.client.get("/api/v1/escalations", params={"status": "open", "limit": 200}))
    assert str(escalation_id) in {each["id"] for each in waiting["items"]}
    body = {
        "decision": "retry",
        "guidance": "divide by two",
        "additional_attempts": 2,
        "line_comments": [{"path": "src/a.py", "line": 3, "body": "here"}],
        "verdict_marks": [{"evaluation_id": str(evaluation_id), "was_right": True}],
        "version": 1,
    }
    url = f"/api/v1/escalations/{escalation_id}/resolve"
    resolved = ok(await api.client.post(url, json=body, headers={"X-PhaseRunner-User": "ada"}))
    assert (resolved["decided_by"], resolved["additional_attempts"]) == ("ada", 2)
    late = await api.client.post(url, json={"decision": "accept"}, headers={"X-PhaseRunner-User": "bob"})
    assert late.status_code == 409
    problem = problem_of(late)
    assert (problem["decided_by"], problem["decision"]) == ("ada", "retry")
    assert problem["decided_at"]
    assert "ada" in problem["detail"]


async def test_a_repeated_post_gets_the_first_answer(api: Api) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    url = f"/api/v1/escalations/{escalation_id}/resolve"
    key = {"Idempotency-Key": str(uuid4())}
    first = await api.client.post(url, json={"decision": "reject"}, headers=key)
    again = await api.client.post(url, json={"decision": "reject"}, headers=key)
    assert ok(again) == ok(first)
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    other = await api.client.post(url, json={"decision": "accept"}, headers=key)
    assert other.status_code == 409
    assert problem_of(other)["field"] == "Idempotency-Key"
    somebody = await api.client.post(
        url, json={"decision": "reject"}, headers={**key, "X-PhaseRunner-User": "bob"}
    )
    assert somebody.status_code == 409, "another person's request is another request"


async def test_the_same_start_many_times_at_once(api: Api) -> None:
    before = await api.rows.count("runs")
    key = {"Idempotency-Key": str(uuid4())}
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(api.client.post("/api/v1/sprints", json=SPRINT, headers=key)) for _ in range(8)
        ]
    answers = [ok(each.result()) for each in tasks]
    assert all(each == answers[0] for each in answers)
    assert await api.rows.count("runs") == before + 1


@pytest.mark.parametrize("key", ["", "k" * 201, "a\tb"], ids=["empty", "too long", "with a tab"])
async def test_keys_that_are_none(api: Api, key: str) -> None:
    response = await api.client.post("/api/v1/sprints", json=SPRINT, headers={"Idempotency-Key": key})
    assert response.status_code == 422
    assert problem_of(response)["field"] == "Idempotency-Key"


async def test_a_workspace_is_judged(api: Api, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\n")
    report = ok(await api.client.post("/api/v1/evaluations", json={"path": str(tmp_path)}))
    assert report["verdict"] == "failed"
    evaluators = ok(await api.client.get("/api/v1/evaluators"))["items"]
    assert [(each["name"], each["gate"], each["phases"]) for each in evaluators] == [
        ("ruff_lint", True, None)
    ]


async def test_differences_as_json_and_as_text(api: Api, tmp_path: Path) -> None:
    sprint = ok(await api.client.post("/api/v1/sprints", json={**SPRINT, "phases": ["coding"]}))
    base = sprint["base_commit"]
    trees = api.cases.trees
    async with trees.open(sprint["id"], base, 1) as opened:
        (opened[0] / "<b>.py").write_text("x = 1\n")
        committed = await trees.commit(sprint["id"], opened[0], base, base, "work")
    await api.rows.attempt(sprint["id"], base_commit=base, head_commit=committed.commit)
    url = f"/api/v1/runs/{sprint['id']}/attempts/coding/1/diff"
    assert [each["path"] for each in ok(await api.client.get(url))["files"]] == ["<b>.py"]
    text = await api.client.get(url, params={"against": "previous"}, headers={"Accept": "text/plain"})
    assert text.headers["content-type"].startswith("text/plain")
    assert "+x = 1" in text.text
    usual = await api.client.get(url, headers={"Accept": "application/json, text/plain, */*"})
    assert [each["path"] for each in ok(usual)["files"]] == ["<b>.py"]
    patch = await api.client.get(url, headers={"Accept": "text/x-diff, application/json;q=0.5"})
    assert (patch.headers["content-type"], patch.text) == ("text/x-diff; charset=utf-8", text.text)
    for field, value in (("path", "<b>.py"), ("context", "0")):
        refused = await api.client.get(url, params={field: value}, headers={"Accept": "text/plain"})
        assert (refused.status_code, refused.json()["field"]) == (422, field)
    result = ok(await api.client.get(f"/api/v1/runs/{sprint['id']}/result"))
    assert (result["commit"], result["is_final"]) == (committed.commit, False)
    assert "+x = 1" in (await api.client.get(result["patch"])).text
    bundle = await api.client.get(result["bundle"])
    (tmp_path / "bundle").write_bytes(bundle.content)
    git(tmp_path, "clone", "-q", "-b", bundle.headers["x-branch"], str(tmp_path / "bundle"), "copy")
    assert (tmp_path / "copy" / "<b>.py").exists()


async def test_what_the_service_says_about_itself(api: Api) -> None:
    assert ok(await api.client.get("/api/v1/info"))["version"] == "1.2.3"
    assert ok(await api.client.get("/healthz")) == {"status": "ok"}
    ready = ok(await api.client.get("/readyz"))
    assert ready["ready"] is True
    confined = (await Sandbox().state()).confined
    checks = {each["name"]: each["ok"] for each in ready["checks"]}
    assert checks == {"database": True, "workers": False, "sandbox": confined}
    assert ok(await api.client.get("/api/v1/events/schema"))
    assert "/openapi.json" in (await api.client.get("/")).text


async def test_the_description_is_whole(api: Api) -> None:
    document = ok(await api.client.get("/openapi.json"))

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [each for inner in value.values() for each in references(inner)]
        return [each for inner in value for each in references(inner)] if isinstance(value, list) else []

    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    operations = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(operations) == len(set(operations))
    assert {"list_runs", "list_sprints", "show_diff", "resolve_escalation"} <= set(operations), (
        "clients' names"
    )
    assert document["components"]["schemas"]["SprintCreate"]["examples"]
    for path, methods in document["paths"].items():
        for each in methods.values():
            assert each.get("description"), f"{path} says nothing about itself"


async def test_lists_counts_and_choices(api: Api) -> None:
    run_id, _, _ = await api.rows.waiting()
    listed = ok(await api.client.get("/api/v1/runs?needs_human=true&sort=oldest&limit=200"))
    assert str(run_id) in [each["id"] for each in listed["items"]]
    counts = ok(await api.client.get("/api/v1/runs/counts?needs_human=true"))
    assert counts["total"] == counts["by_status"]["waiting"] == len(listed["items"])
    facets = ok(await api.client.get("/api/v1/runs/facets"))
    assert {"value": "sprint", "runs": await api.rows.count("runs")} in facets["kinds"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("sort=best", "sort"),
        ("since=yesterday", "since"),
        ("since=2026-05-01T00:00:00", "since"),
        ("kind=holiday", "kind.0"),
        ("needs_human=perhaps", "needs_human"),
        ("agent=", "agent.0"),
        ("project=a%00b", "project.0"),
        ("cursor=e30&sort=cost", "cursor"),
        ("&".join(["status=active"] * 51), "status"),
    ],
    ids=lambda value: value[:40],
)
async def test_filters_that_are_none(api: Api, query: str, field: str) -> None:
    response = await api.client.get(f"/api/v1/runs?{query}")
    assert response.status_code == 422, response.text
    assert problem_of(response)["field"] == field


async def test_a_reviewer_marks_a_verdict_and_takes_it_back(api: Api) -> None:
    run_id, escalation_id, evaluation_id = await api.rows.waiting()
    url = f"/api/v1/evaluations/{evaluation_id}/marks"
    body = {"was_right": False, "note": "the tests were wrong"}
    mark = ok(await api.client.post(url, json=body, headers={"X-PhaseRunner-User": "ada"}))
    assert (mark["kind"], mark["marked_by"]) == ("wrong_fail", "ada")
    assert ok(await api.client.get(url))["items"] == [mark]
    shown = ok(await api.client.get(f"/api/v1/escalations/{escalation_id}"))
    assert shown["failing"][0]["marks"] == [mark]
    assert shown["track_records"][0]["marked"]["wrong_fails"]["count"] >= 1
    attempt = ok(await api.client.get(f"/api/v1/runs/{run_id}/attempts/coding/1"))
    assert attempt["candidates"][0]["evaluations"][0]["marks"] == [mark]
    assert attempt["prompt_changes"] is None
    history = ok(await api.client.get("/api/v1/evaluators/pytest/verdicts?mark=wrong_fail&limit=200"))
    assert str(evaluation_id) in [each["evaluation"]["id"] for each in history["items"]]
    assert ok(await api.client.get("/api/v1/evaluators/pytest"))["record"]["verdicts"] >= 1
    assert (await api.client.delete(f"{url}/{mark['id']}")).status_code == 204
    assert ok(await api.client.get(url))["items"] == []
    assert (await api.client.delete(f"{url}/{mark['id']}")).status_code == 404
    assert (await api.client.get("/api/v1/evaluators/nobody")).status_code == 404


@pytest.mark.parametrize(
    "body",
    [{}, {"was_right": "perhaps"}, {"was_right": True, "note": "n" * 4001}, {"was_right": True, "by": "me"}],
    ids=["nothing", "undecided", "long note", "in somebody's name"],
)
async def test_marks_that_are_none(api: Api, body: dict[str, Any]) -> None:
    _, _, evaluation_id = await api.rows.waiting()
    response = await api.client.post(f"/api/v1/evaluations/{evaluation_id}/marks", json=body)
    assert response.status_code == 422
    assert problem_of(response)["field"] in ("was_right", "note", "by")
