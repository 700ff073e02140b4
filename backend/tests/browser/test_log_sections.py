"""A chosen attempt moves the log; sections of the log fold, and its times come with a key."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.projects import MENDED, WORSE, script, step, write
from tests.acceptance.server import Service, until_rest
from tests.browser.sprints import start
from tests.browser.watched import Watched

NARROW = {"width": 390, "height": 844}


def test_an_attempt_on_the_timeline_moves_the_log(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    talk = [f"said {number}" for number in range(50)]
    agent = script(
        step("Try. Coding Complete", write("shares.py", WORSE), progress=talk),
        step("Mended. Coding Complete", write("shares.py", MENDED), progress=talk),
    )
    with service.client() as client:
        sprint = start(client, repo, agent, name="Moves the log", phases=["coding"])
        assert until_rest(client, sprint)["status"] == "completed"
    watched.open(f"/sprints/{sprint}", heading="Moves the log")
    log = page.get_by_role("log")
    expect(log).to_contain_text("Run completed")
    timeline = page.get_by_role("list", name="Timeline")
    link = timeline.get_by_role("link", name=re.compile("Agent working, coding attempt 1"))
    link.focus()
    page.keyboard.press("Enter")
    log.scroll_into_view_if_needed()
    expect(log.get_by_text("Attempt 1 of coding", exact=True)).to_be_in_viewport()
    assert "attempt=1" in page.url
    timeline.get_by_role("link", name=re.compile("Agent working, coding attempt 2")).press("Enter")
    log.scroll_into_view_if_needed()
    expect(log.get_by_text("Attempt 2 of coding", exact=True)).to_be_in_viewport()
    width = "each => each.clientWidth"
    before = timeline.evaluate(width)
    page.get_by_role("button", name="Zoom into the timeline").click()
    assert timeline.evaluate(width) > 1.9 * before
    watched.audit()

    page.keyboard.press("p")
    expect(log.get_by_text("said 7", exact=True)).to_have_count(0)
    expect(log.get_by_text("Attempt 1 of coding", exact=True)).to_be_visible()
    watched.shoot("log-folded")
    log.locator("[data-fold]").first.click()
    expect(log.get_by_text("said 7", exact=True).first).to_be_visible()
    page.keyboard.press("p")
    page.get_by_role("button", name="Fold tools").click()
    expect(page.get_by_role("button", name="Unfold tools")).to_be_visible()
    clock = re.compile(r"^\d\d:\d\d:\d\d$")
    expect(log.get_by_text(clock)).to_have_count(0)
    page.keyboard.press("t")
    expect(log.get_by_text(clock).first).to_be_visible()
    watched.audit()
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.shoot("log-times-narrow")


def test_each_section_folds_by_keys(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    talk = [f"said {number}" for number in range(5)]
    agent = script(
        step("Try. Coding Complete", write("shares.py", WORSE), progress=talk),
        step("Mended. Coding Complete", write("shares.py", MENDED), progress=talk),
    )
    with service.client() as client:
        sprint = start(client, repo, agent, name="Folds by keys", phases=["coding"])
        assert until_rest(client, sprint)["status"] == "completed"
    watched.open(f"/sprints/{sprint}", heading="Folds by keys")
    log = page.get_by_role("log")
    expect(log).to_contain_text("Run completed")
    log.focus()
    keys.press("Home")
    keys.press("]")
    region = page.get_by_role("region", name="Log", exact=True)
    said = region.get_by_role("status")
    expect(said.filter(has_text="Attempt 1 of coding, unfolded")).to_have_count(1)
    spoken = log.get_by_text("said 3", exact=True)
    expect(spoken).to_have_count(2)
    keys.press("f")
    expect(said.filter(has_text="Attempt 1 of coding, folded")).to_have_count(1)
    expect(spoken).to_have_count(1)
    # A folded attempt has no sections in it: the next one is the next attempt.
    keys.press("]")
    expect(said.filter(has_text="Attempt 2 of coding, unfolded")).to_have_count(1)
    keys.press("[")
    keys.press("f")
    expect(spoken).to_have_count(2)
    # Each tool call folds as well.
    keys.press("]")
    call = region.get_by_role("status").filter(has_text="shares.py, unfolded")
    expect(call).to_have_count(1)
    keys.press("f")
    expect(said.filter(has_text="shares.py, folded")).to_have_count(1)
    expect(log.locator("[data-folded=true]")).to_have_count(1)
    watched.audit()
    keys.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Fold or unfold the section")
