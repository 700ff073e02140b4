"""The routes of answers: what starts one, what is shown, and what is refused, naming the field."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.api.support import Api, open_api
from tests.integration.services.answer_support import GOOD, script

pytestmark = pytest.mark.anyio

ROUTE = "/api/v1/answers"
ASKED = {"query": "What does it cost?", "entries": ["price list: 3 francs"]}


@pytest.fixture
async def api(database_url: str, tmp_path: Path) -> AsyncGenerator[Api]:
    async with open_api(database_url, tmp_path / "data") as opened:
        yield opened


async def test_an_answer_is_started_shown_listed_and_cancelled(api: Api) -> None:
    started = await api.client.post(ROUTE, json={**ASKED, "agent": script(GOOD), "domains": ["shop"]})
    assert started.status_code == 201, started.text
    answer = started.json()
    assert (answer["kind"], answer["status"], answer["result"]) == ("answer", "queued", None)
    assert answer["query"] == ASKED["query"]
    assert answer["entries"] == ASKED["entries"]
    shown = await api.client.get(f"{ROUTE}/{answer['id']}")
    assert shown.json() == answer
    await api.rows.run()
    listed = await api.client.get(ROUTE)
    assert [each["id"] for each in listed.json()["items"]] == [answer["id"]]
    cancelled = await api.client.post(f"{ROUTE}/{answer['id']}/cancel", json={"reason": "enough"})
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    again = await api.client.post(f"{ROUTE}/{answer['id']}/cancel")
    assert again.status_code == 409


async def test_the_same_request_asks_once(api: Api) -> None:
    headers = {"Idempotency-Key": str(uuid4())}
    first = await api.client.post(ROUTE, json=ASKED, headers=headers)
    second = await api.client.post(ROUTE, json=ASKED, headers=headers)
    assert first.json()["id"] == second.json()["id"]
    assert await api.rows.count("runs") == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"query": " \n"}, "query", id="blank"),
        pytest.param({"entries": []}, "query", id="no query"),
        pytest.param({**ASKED, "query": "x" * 20_001}, "query", id="long query"),
        pytest.param({**ASKED, "entries": ["a", ""]}, "entries.1", id="blank entry"),
        pytest.param({**ASKED, "entries": ["x"] * 201}, "entries", id="many entries"),
        pytest.param({**ASKED, "entries": "x"}, "entries", id="one text"),
        pytest.param({**ASKED, "max_retries": 3}, "max_retries", id="more retries than three attempts"),
        pytest.param({**ASKED, "domains": ["law"]}, "domains", id="unknown domain"),
        pytest.param({**ASKED, "domains": ["a b"]}, "domains.0", id="no name of a domain"),
        pytest.param({**ASKED, "rules": [""]}, "rules.0", id="empty rule"),
        pytest.param({**ASKED, "source": {"kind": "path"}}, "source", id="unknown source"),
        pytest.param({**ASKED, "answer": "3"}, "answer", id="unknown field"),
    ],
)
async def test_what_cannot_be_asked_is_refused_with_its_field(
    api: Api, body: dict[str, Any], field: str
) -> None:
    refused = await api.client.post(ROUTE, json=body)
    assert refused.status_code == 422, refused.text
    assert field in refused.text
    assert await api.rows.count("runs") == 0


async def test_there_is_no_other_kind_here(api: Api) -> None:
    sprint = await api.rows.run()
    for url in (f"{ROUTE}/{sprint}", f"{ROUTE}/{uuid4()}"):
        missing = await api.client.get(url)
        assert missing.status_code == 404
