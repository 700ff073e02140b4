"""The start forms offer what is there: agents that are ready, repositories of earlier runs, and a preview."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Request, expect

from tests.acceptance.projects import git
from tests.acceptance.server import Service, ok
from tests.browser.sprints import complete
from tests.browser.watched import Watched
from tests.patience import PATIENCE

NARROW = {"width": 390, "height": 844}
CODES = 'title = "half"\n\n[[phases.coding]]\nsay = "Not yet."\n'
TOML = 'title = "tea"\n\n[[phases.discovery]]\nsay = "No plan. Discovery Complete"\n'


def _sent(requests: list[Request]) -> dict[str, Any]:
    """The body of the only request so far."""
    (request,) = requests
    body: dict[str, Any] = json.loads(request.post_data or "")
    requests.clear()
    return body


def test_a_sprint_with_named_candidates_is_asked_for(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        complete(client, repo, name="Earlier run")
    watched.open("/new", heading="New sprint")
    lacking = page.get_by_role("region", name="Agent is not ready")
    expect(lacking).to_contain_text("_API_KEY")
    expect(lacking).to_contain_text("phaserunner run --example=teatime")
    chosen = page.get_by_role("navigation", name="Kind of run").locator("[aria-current=page]")
    other = page.get_by_role("navigation", name="Kind of run").get_by_role("link", name="answer")
    colour = "each => getComputedStyle(each).backgroundColor"
    assert chosen.evaluate(colour) != other.evaluate(colour)

    goal = page.get_by_role("textbox", name="Goal")
    goal.fill("Mend `half` in ``shares.py`` <b>now</b>")
    preview = page.get_by_role("region", name="Goal as shown")
    expect(preview.locator("code")).to_have_text(["half", "shares.py"])
    expect(preview).to_contain_text("<b>now</b>")
    recent = page.get_by_role("list", name="Recent").get_by_title(str(repo))
    recent.click()
    expect(recent).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("textbox", name="Path")).to_have_value(str(repo))

    agent = page.get_by_role("region", name="Agent", exact=True)
    agent.locator("summary").first.click()
    agent.locator("summary").last.click()
    expect(agent.get_by_role("list", name="Agents").locator("[data-ready=false]").first).to_contain_text(
        "not ready: "
    )
    agent.get_by_role("button", name="Name each candidate").click()
    agent.get_by_role("button", name="Add a candidate").click()
    expect(lacking).to_have_count(0)
    notices = agent.locator("[data-lacking]")
    expect(notices).to_contain_text(["_API_KEY", "_API_KEY"])
    agent.get_by_role("textbox", name="Model of candidate 2").fill("gpt-without-provider")
    expect(notices).to_contain_text(["Candidate 1 cannot work yet"])
    limits = page.get_by_role("region", name="Limits and evaluation")
    limits.locator("summary").click()
    limits.get_by_label("Conversation of a retry").select_option("continue")
    watched.audit()
    watched.shoot("new-sprint-candidates")
    requests: list[Request] = []
    page.on("request", lambda each: requests.append(each) if each.method == "POST" else None)
    with watched.excused():
        page.get_by_role("button", name="Start the sprint").click()
        second = page.get_by_role("textbox", name="Model of candidate 2")
        expect(second).to_have_accessible_description("Write provider:model, such as openai:gpt-4o.")
        expect(second).to_be_focused()
    body = _sent(requests)
    assert body["agent"] == {
        "candidates": [{"agent": "pydantic-ai"}, {"agent": "pydantic-ai", "model": "gpt-without-provider"}]
    }
    assert body["policy"] == {"retry_context": "continue"}
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.shoot("new-sprint-candidates-narrow")


def test_a_share_of_the_goals_tests_is_hidden(service: Service, watched: Watched, repo: Path) -> None:
    rows = ", ".join(f"({2 * each}, {each})" for each in range(10))
    (repo / "tests" / "test_rows.py").write_text(
        "import pytest\n\nfrom shares import half\n\n\n"
        f'@pytest.mark.parametrize(("amount", "share"), [{rows}])\n'
        "def test_rows(amount: int, share: int) -> None:\n    assert half(amount) == share\n"
    )
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "rows")
    page = watched.page
    watched.open("/new", heading="New sprint")
    page.get_by_role("textbox", name="Goal").fill("Make half right.")
    page.get_by_role("textbox", name="Path").fill(str(repo))
    for phase in ("discovery", "verification"):
        page.get_by_role("checkbox", name=phase).uncheck()
    agent = page.get_by_role("region", name="Agent", exact=True)
    agent.locator("summary").first.click()
    agent.get_by_label("Agent", exact=True).select_option("scripted")
    agent.get_by_role("textbox", name="Script (TOML or JSON)").fill(CODES)
    held_out = page.get_by_role("region", name="Held-out tests")
    held_out.locator("summary").click()
    share = held_out.get_by_role("textbox", name="Share of test cases to hide")
    share.fill("0.3")
    with watched.excused():
        page.get_by_role("button", name="Start the sprint").click()
        expect(held_out).to_contain_text("the goal names no test")
    watched.audit()
    watched.shoot("new-sprint-held-out-share")
    page.get_by_role("textbox", name="Goal").fill("Make tests/test_rows.py pass.")
    page.get_by_role("button", name="Start the sprint").click()
    page.get_by_role("heading", level=1, name="Make tests/test_rows.py pass.").wait_for()
    expect(page.get_by_role("main")).to_contain_text("3 of 10 cases are hidden from the agent.")
    watched.shoot("sprint-held-out-share")
    with service.client() as client:
        ok(client.post(f"/runs/{page.url.rpartition('/')[2]}/cancel", json={}))


def test_a_script_in_toml_starts_a_sprint(service: Service, watched: Watched) -> None:
    page = watched.page
    watched.open("/new", heading="New sprint")
    with watched.excused():
        page.get_by_role("button", name="Start the sprint").click()
        expect(page.get_by_role("textbox", name="Goal")).to_have_accessible_description(
            "What to achieve, in your words. Say how to tell that it is done. Say what to achieve."
        )
    page.get_by_role("textbox", name="Goal").fill("Plan `tea`")
    page.get_by_role("textbox", name="Name").fill("From TOML")
    page.get_by_role("radio", name="No files").check()
    for phase in ("coding", "verification"):
        page.get_by_role("checkbox", name=phase).uncheck()
    agent = page.get_by_role("region", name="Agent", exact=True)
    agent.locator("summary").first.click()
    agent.get_by_label("Agent", exact=True).select_option("scripted")
    script = agent.get_by_role("textbox", name="Script (TOML or JSON)")
    script.fill("title = tea")
    with watched.excused():
        page.get_by_role("button", name="Start the sprint").click()
        expect(agent.locator("[data-field-error]")).to_contain_text("line 1")
    script.fill(TOML)
    page.get_by_role("button", name="Start the sprint").click()
    page.get_by_role("heading", level=1, name="From TOML").wait_for()
    expect(page.locator("main p code").first).to_have_text("tea")
    with service.client() as client:
        ok(client.post(f"/runs/{page.url.rpartition('/')[2]}/cancel", json={}))


def test_a_loop_has_files_and_a_budget(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        complete(client, repo, name="Before the loop")
    watched.open("/new?kind=director_loop", heading="New loop")
    definition = {
        "description": "Halve",
        "director": {"description": "Do"},
        "evaluator": {"description": "Judge"},
    }
    page.get_by_role("textbox", name="Definition").fill(json.dumps(definition))
    files = page.get_by_role("region", name="Files and budget")
    files.get_by_role("radio", name="Local repository").check()
    files.get_by_role("list", name="Recent").get_by_title(str(repo)).click()
    files.get_by_role("textbox", name="Cost limit").fill("0.25")
    files.get_by_role("textbox", name="Token limit").fill("9000")
    page.get_by_role("region", name="Agent").locator("summary").first.click()
    told = {"director": [{"say": "half"}], "evaluator": [{"say": "good", "notes": {"success": True}}]}
    page.get_by_role("textbox", name="Script (TOML or JSON)").fill(
        json.dumps({"title": "test", "phases": told})
    )
    watched.audit()
    watched.shoot("new-loop-files")
    page.get_by_role("button", name="Start the loop").click()
    page.wait_for_url("**/loops/*", timeout=PATIENCE * 1000)
    with service.client() as client:
        run = page.url.rpartition("/")[2]
        loop = ok(client.get(f"/loops/{run}"))
        budgets = ok(client.get(f"/runs/{run}/usage"))["budgets"]
    assert loop["project"] == str(repo)
    limits = {each["unit"]: each["budget"] for each in budgets if each["scope"] == "run"}
    assert limits == {"usd": 0.25, "tokens": 9000}


def test_an_answer_has_files_and_a_budget(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    watched.open("/new?kind=answer", heading="New answer")
    page.get_by_role("textbox", name="Query").fill("What halves?")
    page.get_by_role("radio", name="Local repository").check()
    path = page.get_by_role("textbox", name="Path")
    path.fill("shares")
    page.get_by_role("textbox", name="Cost limit").fill("two")
    with watched.excused():
        page.get_by_role("button", name="Start the answer").click()
        expect(page.get_by_role("textbox", name="Cost limit")).to_have_accessible_description(
            "Enter a number."
        )
        page.get_by_role("textbox", name="Cost limit").fill("0.5")
        page.get_by_role("button", name="Start the answer").click()
        expect(path).to_have_accessible_description(
            "An absolute path on the service's machine. Enter the whole path, from / on."
        )
    path.fill(str(repo))
    page.get_by_role("region", name="Agent").locator("summary").first.click()
    told = {"synthesizer": [{"say": "half"}], "evaluator": [{"say": "good"}]}
    page.get_by_role("textbox", name="Script (TOML or JSON)").fill(
        json.dumps({"title": "test", "phases": told})
    )
    watched.audit()
    watched.shoot("new-answer-files")
    page.get_by_role("button", name="Start the answer").click()
    page.wait_for_url("**/answers/*", timeout=PATIENCE * 1000)
    with service.client() as client:
        answer = ok(client.get(f"/answers/{page.url.rpartition('/')[2]}"))
    assert answer["project"] == str(repo)
