"""Without a key for the default agent, the page names the variable and offers the agents that are ready."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.gateway.scripted.server import ScriptedModelServer
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import KEY, PROFILE, scripted_model
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import start
from tests.patience import until

EXAMPLE = "phaserunner run --example"


@pytest.fixture(scope="module")
def keyless(
    chromium: str, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, ScriptedModelServer]]:
    """A service whose default agent lacks its key, and where an installed agent is ready."""
    place = tmp_path_factory.mktemp("keyless")
    (place / "agents.toml").write_text(PROFILE)
    with scripted_model() as model:
        env = {
            "AGENT_MODEL": "anthropic:claude-sonnet-4-20250514",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "AGENTS_FILE": str(place / "agents.toml"),
            "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
        }
        with serving(module_database_url, place / "data", env=env) as running:
            yield running, model


def test_a_new_sprint_offers_the_agent_that_is_ready_and_is_worked_on_by_it(
    keyless: tuple[Service, ScriptedModelServer], new_page_on: NewPageOn, repo: Path
) -> None:
    service, model = keyless
    watched = new_page_on(service.url)
    page = watched.page
    watched.open("/new", heading="New sprint")
    lacking = page.get_by_role("region", name="Agent is not ready")
    expect(lacking).to_contain_text("ANTHROPIC_API_KEY")
    expect(lacking).to_contain_text(EXAMPLE)
    offered = lacking.get_by_role("button", name="Use ")
    expect(offered).to_have_text(["Use tiny"])
    watched.audit()
    offered.click()
    expect(lacking).to_have_count(0)

    page.get_by_role("textbox", name="Goal").fill("half(8) must be 4.")
    page.get_by_role("textbox", name="Path").fill(str(repo))
    page.get_by_role("button", name="Start the sprint").click()
    page.wait_for_url("**/sprints/*")
    run_id = page.url.rpartition("/")[2].partition("?")[0]
    until(lambda: model.requests)
    with service.client() as client:
        (only,) = ok(client.get("/runs"))["items"]
        ok(client.post(f"/runs/{run_id}/cancel", json={"reason": "seen"}))
    assert (only["id"], only["agent"]) == (run_id, "tiny")


def test_an_escalation_for_want_of_a_key_says_what_helps(
    keyless: tuple[Service, ScriptedModelServer], new_page_on: NewPageOn, repo: Path
) -> None:
    service, _ = keyless
    with service.client() as client:
        run = until_rest(client, start(client, repo, {"backend": "auto"}, name="Without a key"))
        assert run["status"] == "waiting", run["status_reason"]
        (escalation,) = run["escalations"]
    watched = new_page_on(service.url)
    watched.open(f"/escalations/{escalation['id']}", heading="Without a key")
    main = watched.page.locator("main")
    for said in ("set ANTHROPIC_API_KEY", "Ready here: tiny (--agent NAME)", EXAMPLE):
        expect(main).to_contain_text(said)
    watched.audit()
