"""Escalations of loops and answers: what there is to look at, words that are true for them, the decision."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.server import Service, ok, serving, until_rest
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import play, resolve_all
from tests.browser.watched import Watched
from tests.llmock import ANTHROPIC, KEY, Conversation, ModelServer, call
from tests.postgres import fresh_database

HOSTILE = '<img src=x onerror="window.pwned=1">pay\u202egnp.exe'
DEFINITION: dict[str, Any] = {
    "description": "Choose a database",
    "director": {"description": "Choose", "inputs": [{"name": "feedback", "from": "evaluation_feedback"}]},
    "evaluator": {"description": "Is it one?", "inputs": [{"name": "choice", "from": "director_result"}]},
}
ASKS: dict[str, Any] = {
    "director": [
        {"say": "SQLite"},
        {"say": f"Which one? {HOSTILE}", "status": "WAITING"},
        {"say": "Postgres it is", "expects": ["Postgres, of course"]},
    ],
    "evaluator": [
        {"say": "That is a file", "notes": {"success": False}},
        {"say": "not reached", "notes": {"success": False}},
        {"say": "Good", "notes": {"success": True}},
    ],
}


def _stays_text(page: Page) -> None:
    expect(page.get_by_text("⟦U+202E⟧").first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main b").count() == 0


def test_a_loop_is_decided_by_what_its_director_gave(service: Service, watched: Watched) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        resolve_all(client)
        loop = play(client, "/loops", ASKS, definition=DEFINITION, inputs={}, name="Asks which")
    watched.open("/escalations", heading="Escalations")
    row = page.get_by_role("link", name="Asks which")
    expect(row).to_contain_text("loop, iteration 2")
    expect(row).to_contain_text("The director asks.")
    row.click()
    page.get_by_role("heading", level=1, name="Asks which").wait_for()
    expect(page.locator("[data-iteration='2']")).to_contain_text("Which one?")
    page.get_by_text("Iteration 1", exact=True).last.click()
    expect(page.locator("[data-iteration='1']")).to_contain_text("That is a file")
    decision = page.get_by_role("form", name="Decision")
    expect(decision).to_contain_text("The loop completes with this output as its result.")
    expect(decision).to_contain_text("The director proposes again, with your guidance among its inputs.")
    for word in ("phase", "diff", "protected", "line comment"):
        assert word not in page.locator("main").inner_text().lower()
    _stays_text(page)
    watched.audit()
    watched.shoot("escalation-loop")

    keys.press("r")
    expect(page.get_by_role("textbox", name="Guidance for the director")).to_be_focused()
    keys.type("Postgres, of course.")
    keys.press("Control+Enter")
    expect(page.get_by_text("decided by")).to_be_visible()
    expect(page.get_by_text("All you wrote is in its prompt")).to_be_visible()
    expect(page.locator("[data-told]")).to_contain_text("Postgres, of course.")
    watched.audit()
    page.get_by_role("link", name="Iteration 3").last.click()
    page.wait_for_url(f"**/loops/{loop}?attempt=3")
    expect(page.locator("[data-result=success]")).to_contain_text("Postgres it is")


@pytest.fixture
def models() -> Iterator[ModelServer]:
    """A writer whose answer lacks something, and a judge who says so."""

    def dimension(name: str) -> dict[str, Any]:
        lacks = name == "completeness"
        return {
            "dimension": name,
            "reasoning": f"{name} was looked at {HOSTILE if lacks else ''}",
            "issues": ["the price is missing"] if lacks else [],
            "sufficient": not lacks,
        }

    dimensions = [dimension(name) for name in ("accuracy", "relevance", "safety", "completeness")]
    analysis = {"summary": "little is known", "findings": [], "gaps": []}
    with ModelServer(
        Conversation(
            (call("final_result", analysis=analysis, answer="Some francs <b>b</b>"),), ("Answer the query",)
        ),
        Conversation((call("final_result", dimensions=dimensions, feedback=[]),)),
    ) as running:
        yield running


@pytest.fixture
def asking(
    models: ModelServer,
    postgres_server: str,
    migrated_template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """A service whose answers are written and judged by models, so that they use up a budget."""
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": models.base_url("anthropic"),
        "AGENT_MODEL": ANTHROPIC,
        "EVALUATOR_MODEL": ANTHROPIC,
    }
    with (
        fresh_database(postgres_server, migrated_template) as url,
        serving(url, tmp_path_factory.mktemp("asking"), env=env) as running,
    ):
        yield running


WRITTEN_AND_JUDGED = 400
"""Tokens that one request to write does not use up (279), and the judge's request after it does.

The budget is checked before each request, so a smaller one asks before anything is judged.
"""


def test_an_answer_is_decided_by_what_would_be_given(asking: Service, new_page_on: NewPageOn) -> None:
    watched = new_page_on(asking.url)
    page = watched.page
    with asking.client() as client:
        asked = {"query": "What does it cost?", "entries": ["letter: some francs"], "name": "Price"}
        answer = ok(client.post("/answers", json={**asked, "budget": {"tokens": WRITTEN_AND_JUDGED}}))["id"]
        assert until_rest(client, answer)["status"] == "waiting"
    watched.open("/escalations", heading="Escalations")
    row = page.get_by_role("link", name="Price")
    expect(row).to_contain_text("answer, attempt 1")
    row.click()
    given = page.locator("[data-would-give]")
    expect(given).to_contain_text("Some francs")
    expect(given).to_contain_text("the price is missing")
    attempt = page.locator("[data-attempt='1']")
    expect(attempt.locator("[data-dimension=completeness]")).to_contain_text("insufficient")
    expect(attempt.locator("[data-dimension=safety]").get_by_text("sufficient", exact=True)).to_be_visible()
    decision = page.get_by_role("form", name="Decision")
    expect(decision).to_contain_text("It ends with the best evaluated attempt that keeps the safety rules")
    for word in ("phase", "diff", "protected", "line comment"):
        assert word not in page.locator("main").inner_text().lower()
    _stays_text(page)
    watched.audit()
    watched.shoot("escalation-answer")

    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("decided by")).to_be_visible()
    page.get_by_role("region", name="Decision").get_by_role("link", name="Open the run").click()
    page.wait_for_url(f"**/answers/{answer}")
    expect(page.locator("[data-result=partial]")).to_contain_text("Some francs")
    with asking.client() as client:
        assert ok(client.get(f"/answers/{answer}"))["result"]["gaps"] == ["the price is missing"]
