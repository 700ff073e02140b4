"""Loops and answers are started from the page, and what the service refuses is shown where it was typed."""

import json
from typing import Any

from playwright.sync_api import expect

from tests.acceptance.server import Service, ok
from tests.browser.watched import Watched
from tests.patience import PATIENCE

XML = """<task type="director_evaluator_loop">
  <description>Write about {{topic}}</description>
  <inputs><input name="topic"/></inputs>
  <director><description>Write</description></director>
  <evaluator><description>Judge</description></evaluator>
</task>"""


def _script(**phases: Any) -> str:
    return json.dumps({"title": "test", "phases": phases})


def test_a_loop_is_started_from_its_definition(service: Service, watched: Watched) -> None:
    page = watched.page
    watched.open("/new", heading="New sprint")
    page.get_by_role("navigation", name="Kind of run").get_by_role("link", name="loop").click()
    page.get_by_role("heading", level=1, name="New loop").wait_for()
    assert page.url.endswith("/new?kind=director_loop")
    expect(page.get_by_role("navigation", name="Kind of run").locator("[aria-current=page]")).to_have_text(
        "loop"
    )
    definition = page.get_by_role("textbox", name="Definition")
    definition.fill(XML.replace("<description>Judge</description>", "<about/>"))
    with watched.excused():
        page.get_by_role("button", name="Start the loop").click()
        refused = page.locator("[data-field-error]")
        expect(refused).to_contain_text("line 5")
        expect(refused).to_contain_text("evaluator")
        expect(definition).to_be_focused()
        watched.audit()
        watched.shoot("new-loop-refused")
        definition.fill(XML)
        page.get_by_role("button", name="Start the loop").click()
        expect(page.locator("[data-state=error]")).to_contain_text("topic")
    page.get_by_role("textbox", name="Input topic").fill("tea <b>leaves</b>")
    page.get_by_role("textbox", name="Name").fill("From the page")
    page.get_by_role("region", name="Agent").locator("summary").first.click()
    told = {"director": [{"say": "On tea"}], "evaluator": [{"say": "good", "notes": {"success": True}}]}
    page.get_by_role("textbox", name="Script (TOML or JSON)").fill(_script(**told))
    watched.audit()
    page.get_by_role("button", name="Start the loop").click()
    page.wait_for_url("**/loops/*")
    expect(page.locator("[data-result=success]")).to_contain_text("On tea", timeout=PATIENCE * 1000)
    with service.client() as client:
        loop = ok(client.get(f"/loops/{page.url.rpartition('/')[2]}"))
    assert (loop["name"], loop["inputs"]) == ("From the page", {"topic": "tea <b>leaves</b>"})
    page.go_back()
    page.get_by_role("heading", level=1, name="New loop").wait_for()


def test_a_question_is_asked_from_the_page(service: Service, watched: Watched) -> None:
    page = watched.page
    watched.open("/new?kind=answer", heading="New answer")
    page.get_by_role("textbox", name="Query").fill("What does it cost?")
    page.get_by_role("textbox", name="Evidence 1").fill("price list: 3 francs")
    page.get_by_role("button", name="Add evidence").click()
    page.get_by_role("textbox", name="Evidence 2").fill("letter: 4 francs")
    page.get_by_role("textbox", name="Domains").fill("nowhere")
    with watched.excused():
        page.get_by_role("button", name="Start the answer").click()
        expect(page.locator("[data-field-error]")).to_contain_text("nowhere")
        watched.audit()
        watched.shoot("new-answer-refused")
    page.get_by_role("textbox", name="Domains").fill("")
    page.get_by_role("textbox", name="Rules").fill("Prices name their currency.")
    page.get_by_role("region", name="Agent").locator("summary").first.click()
    told = {"synthesizer": [{"say": "3 francs"}], "evaluator": [{"say": "good"}]}
    page.get_by_role("textbox", name="Script (TOML or JSON)").fill(_script(**told))
    page.get_by_role("button", name="Start the answer").click()
    page.wait_for_url("**/answers/*")
    expect(page.locator("[data-result=accepted]")).to_contain_text("3 francs", timeout=PATIENCE * 1000)
    with service.client() as client:
        answer = ok(client.get(f"/answers/{page.url.rpartition('/')[2]}"))
    assert answer["entries"] == ["price list: 3 francs", "letter: 4 francs"]
    assert "Prices name their currency." in answer["rules"]
