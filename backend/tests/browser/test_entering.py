"""Tokens are checked before they are kept and bring one back; columns keep widths, projects a short name."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.acceptance.server import Service
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import complete, escalate, escalation_of
from tests.browser.watched import Watched

WIDE = {"width": 1700, "height": 900}
NARROWER = {"width": 1400, "height": 900}


def _kept(page: Page) -> str:
    """The token that the browser keeps."""
    found = page.evaluate("localStorage.getItem('phaserunner.identity')")
    return str(json.loads(found or "{}").get("token", ""))


def test_a_token_is_checked_and_brings_its_user_back(
    guarded: tuple[Service, dict[str, str]], new_page_on: NewPageOn
) -> None:
    service, tokens = guarded
    watched = new_page_on(service.url)
    page = watched.page
    with watched.excused():  # the refusals are what is looked at
        watched.open("/metrics?days=7", heading="Metrics")
        page.get_by_role("alert").get_by_role("link", name="Enter a token").first.click()
        page.get_by_role("heading", level=1, name="Settings").wait_for()
        expect(page.locator("[data-me]")).to_contain_text("The service does not know you.")
        field = page.get_by_label("API token")
        field.fill("pr_this-is-none")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert").filter(has_text="Not saved")).to_be_visible()
        assert _kept(page) == ""
        watched.audit()
        watched.shoot("token-refused")
        field.fill(tokens["viewer"])
        field.press("Enter")
        page.get_by_role("heading", level=1, name="Metrics").wait_for()
    expect(page).to_have_url(re.compile(r"/metrics\?days=7$"))
    expect(page.get_by_role("alert")).to_have_count(0)
    assert _kept(page) == tokens["viewer"]
    watched.open("/settings", heading="Settings")
    expect(page.locator("[data-me]")).to_contain_text("You are the viewer, with the role viewer.")
    expect(page.locator("[data-me]")).to_contain_text("You can look at everything.")
    watched.audit()
    watched.shoot("token-known")


def test_the_column_of_evidence_is_resized_and_keeps_its_width(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    page.set_viewport_size(WIDE)
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name="Wide enough"))
    watched.open(f"/escalations/{escalation}", heading="Wide enough")
    handle = page.get_by_role("separator", name="Width of the evidence")
    column = handle.locator("..")

    def width() -> float:
        box = column.bounding_box()
        assert box is not None
        return box["width"]

    before = width()
    handle.focus()
    page.keyboard.press("ArrowRight")
    assert width() == before + 24
    expect(handle).to_have_attribute("aria-valuenow", str(round(before + 24)))
    grip = handle.bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + 4, grip["y"] + 200)
    page.mouse.down()
    page.mouse.move(grip["x"] + 104, grip["y"] + 200, steps=5)
    page.mouse.up()
    dragged = width()
    assert dragged > before + 100
    page.keyboard.press("Home")
    assert width() == 240
    page.keyboard.press("ArrowRight")
    watched.audit()
    page.reload()
    expect(handle).to_have_attribute("aria-valuenow", "264")
    assert width() == 264
    watched.shoot("column-resized")
    page.set_viewport_size(NARROWER)
    expect(handle).to_be_hidden()


def test_a_project_has_a_short_name_and_its_path_on_hover(
    service: Service, watched: Watched, repo: Path
) -> None:
    with service.client() as client:
        sprint = complete(client, repo, name="Shortly named")
    watched.open("/", heading="Runs")
    row = watched.page.get_by_role("row").filter(has_text="Shortly named")
    expect(row.get_by_title(str(repo))).to_have_text("shares")
    watched.open(f"/sprints/{sprint}", heading="Shortly named")
    expect(watched.page.get_by_title(str(repo))).to_have_text("shares")
