"""Pages of loops and answers: the result first, every attempt with its judgement; all of it stays text."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.acceptance.server import Service, ok
from tests.browser.sprints import play
from tests.browser.watched import Watched
from tests.patience import PATIENCE

HOSTILE = '<img src=x onerror="window.pwned=1"><b>bold</b> pay\u202egnp.exe'
NARROW = {"width": 390, "height": 844}

LOOP: dict[str, Any] = {
    "description": f"Write a limerick about {{{{topic}}}}. {HOSTILE}",
    "inputs": [{"name": "topic"}],
    "max_iterations": 4,
    "director": {"description": "Write it", "inputs": [{"name": "feedback", "from": "evaluation_feedback"}]},
    "evaluator": {"description": "Five lines?", "inputs": [{"name": "limerick", "from": "director_result"}]},
    "script_execution": {
        "command": r"""sh -c 'cat; printf "\033[31mred\033[0m"; echo counted >&2; exit 3'"""
    },
    "termination_condition": {"condition": "iteration >= 2"},
}
LOOP_SCRIPT = {
    "director": [{"say": f"first draft {HOSTILE}"}, {"say": "second draft"}],
    "evaluator": [
        {"say": f"Does not rhyme {HOSTILE}", "notes": {"success": False}},
        {"say": "Still does not", "notes": {"success": False}},
    ],
}
ANSWER: dict[str, Any] = {
    "query": f"What does it cost? {HOSTILE}",
    "entries": ["price list: 3 francs", f"letter: {HOSTILE}"],
    "rules": ["Prices name their currency."],
    "max_retries": 1,
}
ANSWER_SCRIPT = {
    "synthesizer": [{"say": f"3 {HOSTILE}"}, {"say": "about 3 francs"}],
    "evaluator": [
        {"say": "no currency", "notes": {"insufficient": {"completeness": "the currency is missing"}}},
        {"say": "too vague", "notes": {"insufficient": {"accuracy": "nobody says about"}}},
    ],
}


def stays_text(page: Page) -> None:
    """What others wrote is neither markup nor hidden."""
    expect(page.get_by_text("⟦U+202E⟧").first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main b").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()


def looks(watched: Watched, name: str) -> None:
    """Axe finds nothing in both themes, and a telephone cuts nothing."""
    watched.audit()
    watched.shoot(name)
    wide = watched.page.viewport_size
    watched.page.set_viewport_size({"width": NARROW["width"], "height": NARROW["height"]})
    width = watched.page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW["width"], f"{name} is {width} pixels wide"
    watched.shoot(f"{name}-narrow", ["light"])
    if wide:
        watched.page.set_viewport_size(wide)


def test_loops_and_answers_have_pages(service: Service, watched: Watched) -> None:
    page = watched.page
    with service.client() as client:
        inputs = {"topic": "Postgres"}
        loop = play(client, "/loops", LOOP_SCRIPT, definition=LOOP, inputs=inputs, name="Limerick")
        answer = play(client, "/answers", ANSWER_SCRIPT, **ANSWER, name="Price")
        assert ok(client.get(f"/loops/{loop}"))["result"]["ended_by"] == "condition"
        assert ok(client.get(f"/answers/{answer}"))["result"]["status"] == "partial"

    watched.open("/", heading="Runs")
    row = page.get_by_role("row").filter(has_text="Limerick")
    expect(row.get_by_role("cell", name="loop", exact=True).first).to_be_visible()
    row.get_by_role("link", name="Limerick").click()
    page.get_by_role("heading", level=1, name="Limerick").wait_for()
    assert page.url.endswith(f"/loops/{loop}")
    result = page.locator("[data-result='condition met']")
    expect(result).to_contain_text("the last evaluation says no success")
    expect(result).to_contain_text("second draft")
    expect(page.get_by_text("scripted, no model")).to_be_visible()
    expect(page.get_by_text("iteration >= 2")).to_be_visible()
    expect(page.get_by_text("Postgres").first).to_be_visible()
    last = page.locator("[data-iteration='2']")
    expect(last).to_contain_text("Still does not")
    expect(last.locator("[data-part=Script]")).to_contain_text("exit code 3")
    expect(last.locator("[data-part=Script]")).to_contain_text("counted")
    expect(last.locator("[data-part=Script]")).to_contain_text("second draftred")  # colours are taken out
    assert page.locator("[data-iteration='1']").count() == 0, "earlier ones are folded up"
    page.get_by_text("Iteration 1", exact=True).click()
    expect(page.locator("[data-iteration='1']")).to_contain_text("Does not rhyme")
    expect(page.get_by_role("log")).to_contain_text("Run completed")
    stays_text(page)
    looks(watched, "loop")

    watched.open(f"/sprints/{answer}", heading="Price")  # links that know no kind find it
    page.wait_for_url(f"**/answers/{answer}")
    result = page.locator("[data-result=partial]")
    expect(result).to_contain_text("about 3 francs")
    expect(result).to_contain_text("nobody says about")
    last = page.locator("[data-attempt='2']")
    expect(last.locator("[data-dimension=accuracy]")).to_contain_text("insufficient")
    expect(last.locator("[data-dimension=safety]")).to_contain_text("sufficient")
    expect(last).to_contain_text("2 pieces of evidence: 2 given, 0 looked up")
    expect(page.get_by_text("Prices name their currency.")).to_be_visible()
    page.get_by_text("Attempt 1", exact=True).click()
    expect(page.locator("[data-attempt='1']")).to_contain_text("the currency is missing")
    stays_text(page)
    looks(watched, "answer")
    watched.open(f"/answers/{answer}?attempt=1", heading="Price")
    expect(page.locator("[data-attempt='1']")).to_be_visible()
    assert page.locator("[data-attempt='2']").count() == 0, "the address names what is open"


SUBTASK_SCRIPT = {
    "director": [
        {
            "say": "first the load",
            "status": "CONTINUATION",
            "notes": {"subtask_request": {"type": "atomic", "description": f"Find the load {HOSTILE}"}},
        },
        {"say": "45 kN", "expects": ["Find the load", "Hints:"]},
        {"say": "two beams", "expects": ['"content":"45 kN"']},
    ],
    "evaluator": [{"say": "right", "notes": {"success": True}}],
}


def test_subtasks_are_a_tree_with_ways_down_and_up(service: Service, watched: Watched) -> None:
    page = watched.page
    request = SUBTASK_SCRIPT["director"][0]["notes"]["subtask_request"]
    request["template_hints"] = ["5 kN for each square metre"]
    definition = {**LOOP, "script_execution": None, "max_iterations": 2}
    with service.client() as client:
        inputs = {"topic": "bridges"}
        loop = play(client, "/loops", SUBTASK_SCRIPT, definition=definition, inputs=inputs, name="Bridge")
    watched.open(f"/loops/{loop}", heading="Bridge")
    tree = page.get_by_role("region", name="Subtasks")
    expect(tree.get_by_role("listitem")).to_contain_text("completed")
    page.get_by_text("Requests of the director: 1").click()
    expect(page.locator("[data-iteration='1']")).to_contain_text("45 kN")
    stays_text(page)
    looks(watched, "loop-subtasks")
    tree.get_by_role("link").click()
    page.wait_for_url(lambda url: "/loops/" in url and loop not in url)
    page.get_by_role("link", name="the loop").click()
    page.get_by_role("heading", level=1, name="Bridge").wait_for()


def test_a_loop_is_paused_and_cancelled_from_its_page(service: Service, watched: Watched) -> None:
    page = watched.page
    definition = {**LOOP, "script_execution": {"command": "sleep 300"}, "max_iterations": 1}
    agent = {"backend": "scripted", "script": {"title": "slow", "phases": LOOP_SCRIPT}}
    with service.client() as client:
        body = {"definition": definition, "inputs": {"topic": "x"}, "name": "Slow", "agent": agent}
        loop = client.post("/loops", json=body).json()["id"]
        watched.open(f"/loops/{loop}", heading="Slow")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Pause the run").click()
        expect(page.get_by_text(re.compile("^Paused by"))).to_be_visible()
        expect(page.locator("[data-result=paused]")).to_be_visible()
        page.get_by_role("link", name="Runs").first.click()
        expect(
            page.get_by_role("row").filter(has_text="Slow").locator("[data-status=paused]")
        ).to_be_visible()
        page.go_back()
        page.get_by_role("button", name="Cancel run").click()
        page.get_by_role("button", name="Cancel the run").click()
        expect(page.locator("[data-result=cancelled]")).to_be_visible()
        assert ok(client.get(f"/loops/{loop}"))["status"] == "cancelled"


def test_a_director_that_asks_is_answered(service: Service, watched: Watched) -> None:
    page = watched.page
    director = [{"say": "Which database?", "status": "WAITING"}, {"say": "About Postgres"}]
    phases = {"director": director, "evaluator": [{"say": "Good", "notes": {"success": True}}]}
    definition = {key: LOOP[key] for key in ("description", "director", "evaluator", "inputs")}
    with service.client() as client:
        loop = play(client, "/loops", phases, definition=definition, inputs={"topic": "it"}, name="Asks")
    watched.open(f"/loops/{loop}", heading="Asks")
    expect(page.locator("[data-result='needs a person']")).to_be_visible()
    page.get_by_role("link", name="Decide").click()
    page.wait_for_url("**/escalations/*")
    # The page before says the same, and stays until this one is loaded.
    page.get_by_role("form", name="Decision").wait_for()
    expect(page.get_by_role("main")).to_contain_text("Which database?")
    watched.audit()
    watched.shoot("escalation-loop")
    page.get_by_role("link", name="Open the run").click()
    page.wait_for_url(f"**/loops/{loop}")
    with service.client() as client:
        waits = ok(client.get(f"/loops/{loop}"))["escalation_id"]
        answer = {"decision": "retry", "guidance": "Postgres, of course."}
        ok(client.post(f"/escalations/{waits}/resolve", json=answer))
    expect(page.locator("[data-result=success]")).to_contain_text("About Postgres", timeout=PATIENCE * 1000)
