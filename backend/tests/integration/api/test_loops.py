"""Loops over HTTP: started from XML or JSON, shown, cancelled, and refused with the place that is wrong."""

from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from tests.integration.api.support import Api, problem_of

pytestmark = pytest.mark.anyio

XML = """\
<task type="director_evaluator_loop">
  <description>Refine {{topic}}</description>
  <inputs><input name="topic"/></inputs>
  <max_iterations>3</max_iterations>
  <director><description>Write</description></director>
  <evaluator><description>Judge</description></evaluator>
</task>
"""
LOOP: dict[str, Any] = {
    "type": "director_evaluator_loop",
    "description": "Refine it",
    "director": {"description": "Write"},
    "evaluator": {"description": "Judge"},
}
URL = "/api/v1/loops"
IN_XML = {"content-type": "application/xml"}


def ok(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def refusal(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    return problem_of(response)


async def test_a_loop_starts_from_xml(api: Api) -> None:
    url = f"{URL}?{urlencode({'input': 'topic=a=b', 'name': 'mine'})}"
    loop = ok(await api.client.post(url, content=XML, headers=IN_XML), 201)
    assert (loop["kind"], loop["status"], loop["name"]) == ("director_loop", "queued", "mine")
    assert (loop["goal"], loop["inputs"], loop["max_attempts"]) == ("Refine a=b", {"topic": "a=b"}, 3)
    assert (loop["iterations"], loop["result"]) == ([], None)
    assert loop["definition"]["director"]["description"] == "Write"
    assert ok(await api.client.get(f"{URL}/{loop['id']}"))["id"] == loop["id"]
    assert ok(await api.client.get(URL))["items"][0]["id"] == loop["id"]
    sprints = ok(await api.client.get("/api/v1/sprints"))["items"]
    assert loop["id"] not in [each["id"] for each in sprints]
    assert (
        ok(await api.client.get("/api/v1/runs?kind=director_loop&phase=loop"))["items"][0]["id"] == loop["id"]
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(LOOP, id="the definition alone"),
        pytest.param({"definition": LOOP, "query": "Why?"}, id="with more beside it"),
        pytest.param({"definition": XML, "inputs": {"topic": "it"}}, id="with XML in it"),
    ],
)
async def test_a_loop_starts_from_json(api: Api, body: dict[str, Any]) -> None:
    loop = ok(await api.client.post(URL, json=body), 201)
    assert loop["goal"] == body.get("query", "Refine it")


async def test_a_repeated_start_is_one_loop(api: Api) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = await api.client.post(URL, json=LOOP, headers=headers)
    second = await api.client.post(URL, json=LOOP, headers=headers)
    assert ok(first, 201) == ok(second, 201)
    assert second.headers["Idempotency-Replayed"] == "true"
    other = await api.client.post(f"{URL}?query=other", json=LOOP, headers=headers)
    assert refusal(other, 409)["field"] == "Idempotency-Key"


async def test_a_loop_is_cancelled_by_either_name(api: Api) -> None:
    one, two = [ok(await api.client.post(URL, json=LOOP), 201)["id"] for _ in range(2)]
    cancelled = ok(await api.client.post(f"{URL}/{one}/cancel", json={"reason": "enough"}))
    assert (cancelled["status"], cancelled["status_reason"]) == ("cancelled", "enough")
    assert cancelled["result"]["ended_by"] is None
    assert ok(await api.client.post(f"/api/v1/runs/{two}/cancel"))["status"] == "cancelled"
    assert refusal(await api.client.post(f"{URL}/{one}/cancel"), 409)["run_status"] == "cancelled"


BOMB = '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><task><description>&b;</description></task>'
OUTSIDE = '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><task><description>&x;</description></task>'
DEEP = "<task>" + "<a>" * 100 + "</a>" * 100 + "</task>"

BAD_XML = {
    "not XML": ("task", "definition", None),
    "entity expansion": (BOMB, "definition", None),
    "an external entity": (OUTSIDE, "definition", None),
    "100 levels": (DEEP, None, None),
    "a megabyte": (f"<task><description>{'x' * 1_000_000}</description></task>", "definition", None),
    "an unknown element": (XML.replace("max_iterations", "max_iteration"), "max_iteration", 4),
    "too many iterations": (XML.replace(">3<", ">1000<"), "max_iterations", 4),
    "a condition that cannot be read": (
        XML.replace(
            "</task>", "<termination_condition><condition>1 +</condition></termination_condition></task>"
        ),
        "termination_condition.condition",
        7,
    ),
    "contradictory context": (
        XML.replace(
            "</task>",
            "<context_management><inherit_context>full</inherit_context></context_management></task>",
        ),
        "context_management",
        7,
    ),
}


@pytest.mark.parametrize(("xml", "field", "line"), BAD_XML.values(), ids=BAD_XML.keys())
async def test_xml_that_cannot_be_used_is_refused_with_its_place(
    api: Api, xml: str, field: str | None, line: int | None
) -> None:
    before = await api.cases.rows.count("runs")
    problem = refusal(await api.client.post(URL, content=xml, headers=IN_XML), 422)
    assert problem["detail"]
    assert len(problem["detail"]) < 1000
    if field is not None:
        assert problem["field"] == field
    if line is not None:
        assert problem["line"] == line
    assert await api.cases.rows.count("runs") == before


BAD_JSON: dict[str, tuple[Any, str]] = {
    "no director": ({name: each for name, each in LOOP.items() if name != "director"}, "director"),
    "an unknown field": ({**LOOP, "loops": 3}, "loops"),
    "a director with evaluators": (
        {**LOOP, "director": {"description": "x", "evaluators": ["ruff"]}},
        "definition",
    ),
    "a bad field within": ({"definition": {**LOOP, "max_iterations": 0}}, "definition.max_iterations"),
    "an unknown field beside it": ({"definition": LOOP, "loops": 3}, "loops"),
    "an input without a value": ({"definition": XML}, "inputs"),
    "inputs that are no object": ({"definition": LOOP, "inputs": [1]}, "inputs"),
    "an input that is no text": ({"definition": LOOP, "inputs": {"a": 1}}, "inputs.a"),
    "a source that is not there": (
        {"definition": LOOP, "source": {"kind": "local", "path": "/does/not/exist"}},
        "source.path",
    ),
    "a negative budget": ({"definition": LOOP, "budget": {"tokens": -1}}, "budget.tokens"),
    "a list": ([LOOP], "body"),
}


@pytest.mark.parametrize(("body", "field"), BAD_JSON.values(), ids=BAD_JSON.keys())
async def test_json_that_cannot_be_used_is_refused_with_its_field(api: Api, body: Any, field: str) -> None:
    before = await api.cases.rows.count("runs")
    assert refusal(await api.client.post(URL, json=body), 422)["field"] == field
    assert await api.cases.rows.count("runs") == before


async def test_other_formats_and_other_runs_are_refused(api: Api) -> None:
    for kind in ("text/plain", ""):
        answer = await api.client.post(URL, content=XML, headers={"content-type": kind})
        assert "application/xml" in refusal(answer, 415)["detail"]
    assert refusal(
        await api.client.post(URL, content=b"\xff", headers={"content-type": "application/json"}), 422
    )
    assert refusal(await api.client.post(f"{URL}?input=x", json=LOOP), 422)["field"] == "input"
    sprint = await api.cases.rows.run()
    assert refusal(await api.client.get(f"{URL}/{sprint}"), 404)
    assert refusal(await api.client.post(f"{URL}/{sprint}/cancel"), 404)
