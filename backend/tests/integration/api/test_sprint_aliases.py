"""The deprecated paths `/sprints/{id}/…`: each still does what its path under `/runs` does."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.db.models import Snapshot
from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio

SPRINT = {"goal": "make it work", "source": {"kind": "empty"}, "phases": ["coding"]}
FORMER = {
    "POST cancel",
    "POST pause",
    "POST resume",
    "POST fork",
    "GET attempts",
    "GET attempts/{phase}/{number}",
    "GET attempts/{phase}/{number}/diff",
    "GET result",
    "GET result.patch",
    "GET result.bundle",
}


def ok(response: httpx.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


async def start_with_output(api: Api) -> str:
    """Start a sprint whose first attempt left a file; gives its id."""
    sprint = ok(await api.client.post("/api/v1/sprints", json=SPRINT))
    base = sprint["base_commit"]
    async with api.cases.trees.open(sprint["id"], base, 1) as opened:
        (opened[0] / "a.py").write_text("x = 1\n")
        committed = await api.cases.trees.commit(sprint["id"], opened[0], base, base, "work")
    snapshot = Snapshot(
        run_id=UUID(sprint["id"]), commit=committed.commit, kind="attempt", bundle=committed.bundle
    )
    async with api.cases.sessions.begin() as session:
        session.add(snapshot)
    await api.rows.attempt(sprint["id"], base_commit=base, head_commit=committed.commit)
    return str(sprint["id"])


def without_titles(value: Any) -> Any:
    """A part of the document without titles, which name the operation."""
    if isinstance(value, dict):
        return {key: without_titles(each) for key, each in value.items() if key != "title"}
    return [without_titles(each) for each in value] if isinstance(value, list) else value


async def test_every_former_path_is_marked_deprecated(api: Api) -> None:
    paths = ok(await api.client.get("/openapi.json"))["paths"]
    start = "/api/v1/sprints/{run_id}/"
    former = {
        f"{method.upper()} {path.removeprefix(start)}": operation
        for path, methods in paths.items()
        if path.startswith(start)
        for method, operation in methods.items()
    }
    assert set(former) == FORMER
    for name, operation in former.items():
        method, _, rest = name.partition(" ")
        now = paths[f"/api/v1/runs/{{run_id}}/{rest}"][method.lower()]
        assert operation["deprecated"] is True
        assert "deprecated" not in now
        assert operation["operationId"] != now["operationId"]
        assert operation["parameters"] == now["parameters"]
        assert without_titles(operation["responses"]) == without_titles(now["responses"])
        assert operation.get("requestBody") == now.get("requestBody")


@pytest.mark.parametrize(
    "rest",
    [
        *("attempts", "attempts/coding/1", "attempts/coding/1/diff", "result", "result.patch"),
        *("attempts/coding/9", "attempts/praying/1", "attempts/coding/1/diff?against=x"),
    ],
)
async def test_reading_by_the_former_path(api: Api, rest: str) -> None:
    run_id = await start_with_output(api)
    former = await api.client.get(f"/api/v1/sprints/{run_id}/{rest}")
    now = await api.client.get(f"/api/v1/runs/{run_id}/{rest}")
    assert (former.status_code, former.content) == (now.status_code, now.content)


async def test_downloading_by_the_former_path(api: Api) -> None:
    run_id = await start_with_output(api)
    response = await api.client.get(f"/api/v1/sprints/{run_id}/result.bundle")
    assert response.status_code == 200
    assert response.headers["x-branch"].startswith("phaserunner/")
    assert response.content.startswith(b"# v2 git bundle") or response.content.startswith(b"# v3 git bundle")


async def test_changing_by_the_former_path(api: Api) -> None:
    url = f"/api/v1/sprints/{await start_with_output(api)}"
    assert ok(await api.client.post(f"{url}/pause", json={"reason": "lunch"}))["paused"]["reason"] == "lunch"
    assert ok(await api.client.post(f"{url}/resume"))["paused"] is None
    forked = await api.client.post(f"{url}/fork", json={"phase": "coding", "attempt": 1})
    assert forked.status_code == 201
    assert ok(forked)["forked_from"]["attempt"] == 1
    key = {"Idempotency-Key": "cancel by the former path"}
    first, second = [await api.client.post(f"{url}/cancel", headers=key) for _ in range(2)]
    assert ok(first)["status"] == "cancelled"
    assert ok(second) == ok(first)
    assert second.headers["idempotency-replayed"] == "true"
    assert problem_of(await api.client.post(f"{url}/cancel"))["run_status"] == "cancelled"


async def test_a_loop_is_cancelled_by_the_former_path(api: Api) -> None:
    run_id = await api.rows.run(kind="director_loop", phases=["loop"], phase="loop")
    assert ok(await api.client.post(f"/api/v1/sprints/{run_id}/cancel"))["status"] == "cancelled"
