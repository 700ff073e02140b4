"""Keys that appear twice and unknown query parameters are refused by name; the rest is read as ever."""

import json
from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Query
from pydantic import BaseModel

from app.api.edge import problems
from app.api.edge.strict_json import StrictRoute, read_json
from app.schemas.moments import Moment

pytestmark = pytest.mark.anyio

router = APIRouter(route_class=StrictRoute)


class _Wish(BaseModel):
    goal: str
    more: dict[str, str] = {}


@router.post("/wishes")
async def wish(body: _Wish) -> str:
    return body.goal


@router.get("/moments")
async def moments(until: Annotated[Moment | None, Query()] = None) -> str:
    return until.isoformat() if until else ""


class _Filter(BaseModel):
    status: list[str] = []
    limit: int = 5


def _page(page: int = 1) -> int:
    return page


@router.get("/wishes")
async def wishes(query: Annotated[_Filter, Query()], page: Annotated[int, Depends(_page)]) -> int:
    return query.limit * page + len(query.status)


@pytest.fixture
async def client():
    app = FastAPI()
    problems.install(app)
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as made:
        yield made


@pytest.mark.parametrize(
    ("body", "key"),
    [
        pytest.param('{"goal": "a", "goal": "b"}', "goal", id="at the top"),
        pytest.param('{"goal": "a", "more": {"x": "1", "y": "2", "x": "3"}}', "x", id="within"),
        pytest.param('{"goal": "a", "g\\u006fal": "b"}', "goal", id="spelt otherwise"),
    ],
)
async def test_a_key_that_appears_twice_is_named(client: httpx.AsyncClient, body: str, key: str) -> None:
    response = await client.post("/wishes", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert f"the key '{key}' appears twice" in response.text


async def test_other_bodies_are_read(client: httpx.AsyncClient) -> None:
    assert (await client.post("/wishes", json={"goal": "ä", "more": {"goal": "x"}})).json() == "ä"
    wrong = await client.post("/wishes", content="{", headers={"content-type": "application/json"})
    assert (wrong.status_code, "not valid JSON" in wrong.text) == (422, True)


async def test_a_body_that_is_not_said_to_be_json_is_told_how(client: httpx.AsyncClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}  # as curl sends it
    told = [
        (await client.post("/wishes", content='{"goal": "a"}', headers=form)).json(),
        (await client.post("/wishes", json=["a"])).json(),
    ]
    assert [each["detail"] for each in told] == [
        "body: send JSON, with the header Content-Type: application/json",
        "body: must be a JSON object",
    ]


def test_bytes_of_every_unicode_encoding_are_read() -> None:
    assert [read_json(json.dumps({"a": "ü"}).encode(each)) for each in ("utf-8", "utf-16")] == [
        {"a": "ü"}
    ] * 2


@pytest.mark.parametrize(
    "text", ["0.5", "1767225600", "1e9", "nan", " 5", "2026-01-31", "2026-01-31T12:00:00"]
)
async def test_what_is_no_time_with_an_offset_is_refused(client: httpx.AsyncClient, text: str) -> None:
    response = await client.get("/moments", params={"until": text})
    assert response.status_code == 422
    assert "until" in response.text


async def test_a_time_with_an_offset_is_taken(client: httpx.AsyncClient) -> None:
    response = await client.get("/moments", params={"until": "2026-01-31T12:00:00+02:00"})
    assert response.json() == "2026-01-31T10:00:00+00:00"


async def test_known_query_parameters_are_taken(client: httpx.AsyncClient) -> None:
    query = "?status=a&status=b&limit=10&page=2"
    assert (await client.get(f"/wishes{query}")).json() == 22


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        pytest.param("staus=a", "staus: unknown; there are limit, page, status", id="mistyped"),
        pytest.param("=a", ": unknown; there are limit, page, status", id="without a name"),
        pytest.param("limit=1&limit=2", "limit: given 2 times; it takes one value", id="a second value"),
    ],
)
async def test_a_query_parameter_that_would_be_ignored_is_named(
    client: httpx.AsyncClient, query: str, detail: str
) -> None:
    response = await client.get(f"/wishes?{query}")
    assert (response.status_code, response.json()["detail"]) == (422, detail)


async def test_all_unknown_query_parameters_are_named(client: httpx.AsyncClient) -> None:
    response = await client.post("/wishes?a=1&b=2", json={"goal": "x"})
    assert [(each["field"], each["message"]) for each in response.json()["errors"]] == [
        ("a", "unknown; there are no query parameters"),
        ("b", "unknown; there are no query parameters"),
    ]
