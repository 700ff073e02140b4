"""Whatever is sent, the answer is a problem document that says which field is wrong, and nothing happens."""

import base64
from typing import Any

import httpx
import pytest

from app.api.app import _ROUTES  # pyright: ignore[reportPrivateUsage] - the framework nests them
from app.api.edge.strict_json import StrictRoute
from app.api.edge.strict_query import QueryNames
from tests.integration.api.support import Api, problem_of
from tests.integration.services.support import at_once

pytestmark = pytest.mark.anyio

EMPTY = {"kind": "empty"}
NOBODY = "00000000-0000-4000-8000-000000000000"
SCRIPT = {"title": "t", "phases": {"coding": [{"say": "x"}]}}


def sprint(**changes: Any) -> dict[str, Any]:
    return {"goal": "make it work", "source": EMPTY} | changes


BAD_SPRINTS: dict[str, tuple[dict[str, Any], str]] = {
    "no goal": ({"source": EMPTY}, "goal"),
    "blank goal": (sprint(goal=" \n "), "goal"),
    "goal of 1 MB": (sprint(goal="g" * 1_000_000), "goal"),
    "NUL in goal": (sprint(goal="a\0b"), "goal"),
    "escape sequence in goal": (sprint(goal="a\x1b[2Jb"), "goal"),
    "goal is a number": (sprint(goal=5), "goal"),
    "goal is null": (sprint(goal=None), "goal"),
    "name too long": (sprint(name="n" * 201), "name"),
    "no source": ({"goal": "g"}, "source"),
    "unknown source": (sprint(source={"kind": "ftp"}), "source"),
    "source without path": (sprint(source={"kind": "local"}), "source.path"),
    "relative path": (sprint(source={"kind": "local", "path": "here"}), "source.path"),
    "path that does not exist": (sprint(source={"kind": "local", "path": "/does/not/exist"}), "source.path"),
    "NUL in path": (sprint(source={"kind": "local", "path": "/a\0b"}), "source.path"),
    "not a repository": (sprint(source={"kind": "local", "path": "/usr"}), "source.path"),
    "url of a strange kind": (sprint(source={"kind": "git", "url": "ext::sh -c id"}), "source.url"),
    "url with an impossible host": (sprint(source={"kind": "git", "url": "https://a..b/x"}), "source.url"),
    "archive without data": (sprint(source={"kind": "archive"}), "source"),
    "archive that is none": (sprint(source={"kind": "archive", "data": "aGVsbG8="}), "source.data"),
    "archive not in base64": (sprint(source={"kind": "archive", "data": "?"}), "source.data"),
    "unknown phase": (sprint(phases=["coding", "praying"]), "phases.1"),
    "phases out of order": (sprint(phases=["coding", "discovery"]), "phases"),
    "no phases": (sprint(phases=[]), "phases"),
    "unknown agent": (sprint(agent={"backend": "gpt"}), "agent.backend"),
    "script without script": (sprint(agent={"backend": "scripted"}), "agent"),
    "edit outside the workspace": (
        sprint(
            agent={
                "backend": "scripted",
                "script": {
                    "title": "t",
                    "phases": {
                        "coding": [{"say": "x", "edits": [{"kind": "write", "path": "../x", "content": ""}]}]
                    },
                },
            }
        ),
        "agent.script.phases.coding.0.edits.0.path",
    ),
    "negative candidates": (sprint(agent={"candidates": -1}), "agent.candidates"),
    "no attempts": (sprint(policy={"max_attempts": 0}), "policy.max_attempts"),
    "threshold above 1": (sprint(policy={"pass_threshold": 1.5}), "policy.pass_threshold"),
    "negative budget": (sprint(policy={"budget": {"tokens": -5}}), "policy.budget.tokens"),
    "unknown field": (sprint(priority=3), "priority"),
    "a list": ([1], "body"),  # pyright: ignore[reportAssignmentType]
}


@pytest.mark.parametrize(("body", "field"), BAD_SPRINTS.values(), ids=BAD_SPRINTS.keys())
async def test_a_sprint_that_cannot_start(api: Api, body: Any, field: str) -> None:
    before = await api.rows.count("runs")
    response = await api.client.post("/api/v1/sprints", json=body)
    problem = problem_of(response)
    assert response.status_code == 422
    assert (problem["field"], problem["errors"][0]["field"]) == (field, field)
    assert problem["detail"].startswith(field)
    assert len(response.content) < 2_000, "what was sent is not sent back"
    assert await api.rows.count("runs") == before
    assert not list((api.cases.data_dir / "runs").glob("*")), "nothing is left on the disk"


RAW_BODIES: dict[str, tuple[bytes, str, int]] = {
    "not JSON": (b"{goal: 1}", "application/json", 422),
    "cut JSON": (b'{"goal": "x"', "application/json", 422),
    "nothing": (b"", "application/json", 422),
    "not UTF-8": (b'{"goal": "\xff"}', "application/json", 400),
    "nested without end": (b"[" * 200_000, "application/json", 400),
    "a form": (b"goal=x", "application/x-www-form-urlencoded", 422),
    "JSON sent as text": (b'{"goal": "x", "source": {"kind": "empty"}}', "text/plain", 422),
    "a lone surrogate as value": (
        b'{"goal": "\\ud800", "source": {"kind": "empty"}}',
        "application/json",
        422,
    ),
    "a lone surrogate as key": (
        b'{"goal": "g", "source": {"kind": "empty"}, "\\ud800": 1}',
        "application/json",
        422,
    ),
    "an infinite budget": (
        b'{"goal": "g", "source": {"kind": "empty"}, "policy": {"budget": {"cost_usd": Infinity}}}',
        "application/json",
        422,
    ),
    "a threshold that is no number": (
        b'{"goal": "g", "source": {"kind": "empty"}, "policy": {"pass_threshold": NaN}}',
        "application/json",
        422,
    ),
    "a number with 5,000 digits": (b'{"goal": ' + b"9" * 5_000 + b"}", "application/json", 400),
}


@pytest.mark.parametrize(("body", "kind", "status"), RAW_BODIES.values(), ids=RAW_BODIES.keys())
async def test_a_body_that_is_not_understood(api: Api, body: bytes, kind: str, status: int) -> None:
    response = await api.client.post("/api/v1/sprints", content=body, headers={"Content-Type": kind})
    problem_of(response)
    assert response.status_code == status


RESOLUTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no decision": ({}, "decision"),
    "unknown decision": ({"decision": "maybe"}, "decision"),
    "control characters in guidance": ({"decision": "reject", "guidance": "a\x07b"}, "guidance"),
    "guidance too long": ({"decision": "reject", "guidance": "g" * 20_001}, "guidance"),
    "attempts with accept": ({"decision": "accept", "additional_attempts": 2}, "body"),
    "a negative number of attempts": (
        {"decision": "retry", "additional_attempts": -1},
        "additional_attempts",
    ),
    "a comment that leaves the tree": (
        {"decision": "retry", "line_comments": [{"path": "../a", "line": 1, "body": "x"}]},
        "line_comments.0.path",
    ),
    "a comment on an absolute path": (
        {"decision": "retry", "line_comments": [{"path": "/etc/passwd", "line": 1, "body": "x"}]},
        "line_comments.0.path",
    ),
    "a comment on line 0": (
        {"decision": "retry", "line_comments": [{"path": "a", "line": 0, "body": "x"}]},
        "line_comments.0.line",
    ),
    "a mark on no evaluation": (
        {"decision": "retry", "verdict_marks": [{"evaluation_id": "x", "was_right": True}]},
        "verdict_marks.0.evaluation_id",
    ),
    "a mark on another run's evaluation": (
        {"decision": "retry", "verdict_marks": [{"evaluation_id": NOBODY, "was_right": True}]},
        "verdict_marks.0.evaluation_id",
    ),
}


@pytest.mark.parametrize(("body", "field"), RESOLUTIONS.values(), ids=RESOLUTIONS.keys())
async def test_a_decision_that_cannot_be_taken(api: Api, body: dict[str, Any], field: str) -> None:
    _, escalation_id, _ = await api.rows.waiting()
    response = await api.client.post(f"/api/v1/escalations/{escalation_id}/resolve", json=body)
    assert response.status_code == 422
    assert problem_of(response)["field"] == field
    assert (await api.client.get(f"/api/v1/escalations/{escalation_id}")).json()["status"] == "open"


FORGED_CURSOR = "MDAwMS0wMS0wMVQwMDowMDowMCswMTowMHwwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDA"


def cursor(text: str) -> str:
    """A cursor that the service did not make."""
    return base64.urlsafe_b64encode(f"{text}|{NOBODY}".encode()).decode().rstrip("=")


NUMBER_FOR_TIME, TIME_FOR_NUMBER = cursor("newest|5"), cursor("cost|2026-01-01T00:00:00+00:00")

PLACES: dict[str, tuple[str, str, int, str | None]] = {
    "sprint that is no id": ("GET", "/api/v1/sprints/17", 422, "sprint_id"),
    "unknown sprint": ("GET", f"/api/v1/runs/{NOBODY}", 404, None),
    "unknown sprint's attempts": ("GET", f"/api/v1/runs/{NOBODY}/attempts", 404, None),
    "unknown sprint's attempt": ("GET", f"/api/v1/runs/{NOBODY}/attempts/coding/1", 404, None),
    "unknown phase": ("GET", f"/api/v1/runs/{NOBODY}/attempts/praying/1", 422, "phase"),
    "attempt 0": ("GET", f"/api/v1/runs/{NOBODY}/attempts/coding/0", 422, "number"),
    "attempt beyond any integer": ("GET", f"/api/v1/runs/{NOBODY}/attempts/coding/{2**40}", 422, "number"),
    "unknown comparison": (
        "GET",
        f"/api/v1/runs/{NOBODY}/attempts/coding/1/diff?against=x",
        422,
        "against",
    ),
    "unknown sprint's result": ("GET", f"/api/v1/runs/{NOBODY}/result", 404, None),
    "unknown sprint's patch": ("GET", f"/api/v1/runs/{NOBODY}/result.patch", 404, None),
    "cancel an unknown sprint": ("POST", f"/api/v1/runs/{NOBODY}/cancel", 404, None),
    "unknown status": ("GET", "/api/v1/sprints?status=happy", 422, "status.0"),
    "limit 0": ("GET", "/api/v1/sprints?limit=0", 422, "limit"),
    "limit 201": ("GET", "/api/v1/sprints?limit=201", 422, "limit"),
    "limit in words": ("GET", "/api/v1/sprints?limit=many", 422, "limit"),
    "NUL in a search": ("GET", "/api/v1/sprints?q=%00", 422, "q"),
    "a search too long": ("GET", f"/api/v1/sprints?q={'a' * 300}", 422, "q"),
    "a cursor of nobody": ("GET", "/api/v1/sprints?cursor=abc", 422, "cursor"),
    "a cursor beyond ASCII": ("GET", "/api/v1/sprints?cursor=%E2%82%AC", 422, "cursor"),
    "a forged cursor": ("GET", f"/api/v1/sprints?cursor={FORGED_CURSOR}", 422, "cursor"),
    "a cursor with a number for a time": ("GET", f"/api/v1/runs?cursor={NUMBER_FOR_TIME}", 422, "cursor"),
    "a cursor with a time for a number": (
        "GET",
        f"/api/v1/runs?sort=cost&cursor={TIME_FOR_NUMBER}",
        422,
        "cursor",
    ),
    "a mistyped filter": ("GET", "/api/v1/runs?staus=active", 422, "staus"),
    "a second limit": ("GET", "/api/v1/runs?limit=1&limit=2", 422, "limit"),
    "a filter where there is none": ("GET", "/api/v1/evaluators?phase=coding", 422, "phase"),
    "a reason in the query": ("POST", f"/api/v1/runs/{NOBODY}/cancel?reason=x", 422, "reason"),
    "another kind than the list's": ("GET", "/api/v1/sprints?kind=answer", 422, "kind"),
    "the phase of no metric": ("GET", "/api/v1/runs?metric_phase=coding", 422, "metric_phase"),
    "a time before year 1 in UTC": ("GET", "/api/v1/runs?since=0001-01-01T00:00:00%2B14:00", 422, "since"),
    "a time after year 9999 in UTC": ("GET", "/api/v1/metrics?until=9999-12-31T23:59:59-14:00", 422, "until"),
    "escalations' forged cursor": ("GET", f"/api/v1/escalations?cursor={FORGED_CURSOR}", 422, "cursor"),
    "unknown escalation status": ("GET", "/api/v1/escalations?status=x", 422, "status"),
    "unknown escalation": ("GET", f"/api/v1/escalations/{NOBODY}", 404, None),
    "unknown run's events": ("GET", f"/api/v1/runs/{NOBODY}/events", 404, "run_id"),
    "unknown path": ("GET", "/api/v1/sprint", 404, None),
    "unknown method": ("DELETE", "/api/v1/sprints", 405, None),
    "documentation pages that would load scripts from elsewhere": ("GET", "/docs", 404, None),
}


@pytest.mark.parametrize(("method", "path", "status", "field"), PLACES.values(), ids=PLACES.keys())
async def test_a_place_that_is_not_there(
    api: Api, method: str, path: str, status: int, field: str | None
) -> None:
    response = await api.client.request(method, path)
    assert response.status_code == status
    assert problem_of(response).get("field") == field
    if status == 405:
        assert response.headers["allow"] == "GET, POST"


EVALUATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no path": ({}, "path"),
    "relative path": ({"path": "here"}, "path"),
    "nothing there": ({"path": "/does/not/exist"}, "path"),
    "a file": ({"path": "/etc/hosts"}, "path"),
    "NUL": ({"path": "/a\0b"}, "path"),
    "a path too long": ({"path": "/" + "a" * 4_000}, "path"),
    "unknown phase": ({"path": "/", "phase": "x"}, "phase"),
    "base that is an option": ({"path": "/usr", "base": "--exec=id"}, "base"),
    "base where there is no repository": ({"path": "/usr", "base": "main"}, "path"),
    "base with a control character": ({"path": "/", "base": "a\nb"}, "base"),
}


@pytest.mark.parametrize(("body", "field"), EVALUATIONS.values(), ids=EVALUATIONS.keys())
async def test_a_workspace_that_cannot_be_judged(api: Api, body: dict[str, Any], field: str) -> None:
    response = await api.client.post("/api/v1/evaluations", json=body)
    assert response.status_code == 422
    assert problem_of(response)["field"] == field


async def test_an_announced_body_that_is_too_large(api: Api) -> None:
    response = await api.client.post("/api/v1/evaluations", content=b"x" * 1_000_001)
    assert response.status_code == 413
    assert problem_of(response)["type"].endswith("too-large")


@pytest.mark.parametrize("forge", ["github", "gitlab"])
async def test_a_delivery_above_25_mb_is_refused(api: Api, forge: str) -> None:
    largest = 25 * 1024 * 1024
    response = await api.client.post(f"/api/v1/forges/{forge}/webhook", content=b"x" * (largest + 1))
    assert response.status_code == 413
    assert "more than 26,214,400 bytes" in problem_of(response)["detail"]
    # One that GitHub would still send is looked at; this service knows no forge.
    taken = await api.client.post(f"/api/v1/forges/{forge}/webhook", content=b"x" * largest)
    assert taken.status_code == 404


async def test_a_streamed_body_that_is_too_large(api: Api) -> None:
    async def endless() -> Any:
        for _ in range(30):
            yield b" " * 100_000

    headers = {"Content-Type": "application/json"}
    response = await api.client.post("/api/v1/evaluations", content=endless(), headers=headers)
    assert response.status_code == 413
    assert problem_of(response)["type"].endswith("too-large")


async def test_what_nobody_foresaw_tells_no_internals(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    run_id = await api.rows.run(policy={"max_attempts": "a secret that broke"})
    response = await api.client.get(f"/api/v1/runs/{run_id}")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert problem_of(response)["type"].endswith("internal-error")
    assert "a secret that broke" in caplog.text, "the log has it"
    async with api.cases.sessions.begin() as session:
        await session.delete(await api.rows.get(run_id))


async def test_problems_are_described(api: Api) -> None:
    document: httpx.Response = await api.client.get("/openapi.json")
    described = document.json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            if path.startswith("/api/"):
                answers = operation["responses"]["422"]["content"]
                assert list(answers) == ["application/problem+json"], (method, path)
    assert "HTTPValidationError" not in described["components"]["schemas"]


async def test_a_definition_with_a_lone_surrogate(api: Api) -> None:
    response = await api.client.post(
        "/api/v1/loops",
        content=b'{"definition": "<task>\\ud800</task>"}',
        headers={"Content-Type": "application/json"},
    )
    assert response.status_code == 422
    assert problem_of(response)["field"] == "definition.task"


async def test_two_first_changes_of_a_project_at_once(api: Api) -> None:
    change = {"project": "/srv/shares", "paused": True}
    changes = (api.client.put("/api/v1/backlog/projects", json=change) for _ in range(8))
    assert {each.status_code for each in await at_once(*changes)} == {200}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/decide/x"])
async def test_others_may_add_to_the_query_of_probes_and_links(api: Api, path: str) -> None:
    plain, more = await api.client.get(path), await api.client.get(f"{path}?utm_source=mail")
    assert more.status_code == plain.status_code != 422


def test_every_query_parameter_in_the_document_is_taken(api: Api) -> None:
    paths = api.app.openapi()["paths"]
    routes = [route for module in _ROUTES for route in module.router.routes if isinstance(route, StrictRoute)]
    assert len(routes) > 50
    for route in routes:
        names = QueryNames.of(route.dependant)
        for method in route.methods or ():
            given = paths[route.path][method.lower()].get("parameters", [])
            queried = [each for each in given if each["in"] == "query"]
            lists = {each["name"] for each in queried if each["schema"].get("type") == "array"}
            assert names.repeatable == lists, route.path
            assert names.single == {each["name"] for each in queried} - lists, route.path
