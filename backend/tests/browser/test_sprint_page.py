"""A run's page: live, with its evidence first; what agents write stays text; its log however long."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.acceptance.projects import MENDED, NEVER_MENDS, script, step, write
from tests.acceptance.server import Service, until_rest
from tests.browser.sprints import append_lines, complete, start
from tests.browser.watched import Watched
from tests.patience import PATIENCE

LINES = 100_000

HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
BIDI = "pay\u202egnp.exe"
ANSI = "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[2Jcleared"


def log_of(page: Page) -> str:
    """The lines of the log that are on screen."""
    return page.get_by_role("log").inner_text()


def test_a_run_is_watched_from_start_to_escalation(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    watched.open("/new", heading="New sprint")
    watched.audit()
    watched.shoot("new")
    page.get_by_role("button", name="Start the sprint").click()
    with watched.excused():  # the refusal is what is looked at
        expect(page.locator("[data-field-error]").first).to_be_visible()
        watched.audit()
        watched.shoot("new-refused")
    watched.faults.clear()

    page.get_by_label("Goal").fill("Make the failing test pass.")
    page.get_by_label("Name").fill("From the page")
    page.get_by_label("Path").fill(str(repo))
    page.get_by_role("region", name="Agent").locator("summary").first.click()
    page.get_by_role("combobox", name="Agent").select_option("scripted")
    page.get_by_label("Script (TOML or JSON)").fill(json.dumps(NEVER_MENDS["script"]))
    page.get_by_role("button", name="Start the sprint").click()
    page.get_by_role("heading", level=1, name="From the page").wait_for()
    expect(page.get_by_role("link", name="Decide")).to_be_visible(timeout=PATIENCE * 1000)

    evidence = page.locator("[data-evaluator=pytest]")
    expect(evidence.get_by_text("test_half_of_eight").first).to_be_visible()  # without any click
    expect(page.locator("[data-evaluator=type_check] pre").first).to_be_hidden()  # passes are folded up
    expect(page.get_by_role("log")).to_contain_text("Needs a person")
    watched.audit()
    watched.shoot("sprint-waiting")

    verdicts = page.get_by_role("region", name="Table of verdicts")
    verdicts.get_by_role("row").filter(has_text="type_check").get_by_role("link", name="passed").first.click()
    expect(page.locator("[data-evaluator=type_check] pre").first).to_be_visible()
    assert "evaluator=type_check" in page.url
    page.go_back()
    expect(page.locator("[data-evaluator=type_check] pre").first).to_be_hidden()

    page.get_by_role("tab", name="Prompt of coding attempt 3").click()
    expect(page.locator("[data-part=added]").filter(has_text="Attempt 2: FAILED")).to_be_visible()
    watched.audit()
    watched.shoot("sprint-prompt")
    page.get_by_role("tab", name="Output of coding attempt 3").click()
    expect(page.get_by_text("Try 3. Coding Complete")).to_be_visible()
    watched.audit()

    page.get_by_role("button", name="Cancel run").click()
    page.get_by_label("Reason (optional)").fill("seen enough")
    watched.audit()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_role("heading", level=1).locator("..").get_by_text("cancelled")).to_be_visible()
    watched.shoot("sprint-cancelled")


def test_what_others_write_stays_text(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    code = step(
        f"{HOSTILE} {BIDI} Coding Complete",
        write("shares.py", MENDED),
        write(f"<b>{BIDI}.md", HOSTILE),
        progress=[HOSTILE, BIDI, "see https://example.invalid/x."],
    )
    with service.client() as client:
        sprint = start(
            client,
            repo,
            script(code),
            name=f"{HOSTILE[:80]} {BIDI}",
            goal=f"{HOSTILE} {BIDI}",
            phases=["coding"],
        )
        until_rest(client, sprint)
        append_lines(service_database_url, sprint, [ANSI])
    page = watched.page
    for path in ("/", f"/sprints/{sprint}", f"/sprints/{sprint}?tab=output", f"/sprints/{sprint}?tab=prompt"):
        watched.open(path)
        expect(page.get_by_text("⟦U+202E⟧").first).to_be_visible()
        assert page.evaluate("window.pwned") is None
        assert page.locator("main img, main script, main b").count() == 0
        assert "\u202e" not in page.locator("main").inner_text()
    watched.open(f"/sprints/{sprint}")
    log = page.get_by_role("log")
    expect(log).to_contain_text("red link cleared")
    assert log.get_by_text("red", exact=True).evaluate(
        "each => getComputedStyle(each).color"
    ) != page.evaluate("getComputedStyle(document.body).color")
    assert page.locator("a[href*='evil.example']").count() == 0
    watched.audit()
    watched.shoot("sprint-hostile")


def test_a_hundred_thousand_lines(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        sprint = complete(client, repo, name="Talks a lot")
        append_lines(service_database_url, sprint, [f"line {number} of many" for number in range(LINES)])
        watched.open(f"/sprints/{sprint}", heading="Talks a lot")
        log = page.get_by_role("log")
        expect(log).to_contain_text(f"line {LINES - 1} of many", timeout=PATIENCE * 1000)
        assert page.locator("[role=log] li").count() < 200, "only what is on screen exists"
        watched.shoot("sprint-long-log")

        log.hover()
        page.mouse.wheel(0, -5_000)
        expect(page.get_by_text("Paused", exact=False)).to_be_visible()
        seen = log_of(page)
        append_lines(service_database_url, sprint, ["one more", "and another"])
        expect(page.get_by_text("Paused: 2 new lines")).to_be_visible()
        assert log_of(page) == seen, "what is read does not move"
        log.focus()
        page.keyboard.press("End")
        expect(log).to_contain_text("and another")

        page.get_by_role("searchbox", name="Search the log").fill("line 4242 of")
        expect(log).to_contain_text("line 4242 of many")
        expect(page.get_by_text("1 of 1 line")).to_be_visible()
        assert "find=" in page.url
        page.get_by_role("button", name="Link to this match").click()
        page.wait_for_url("**#L*")
        named = page.url.partition("#")[2]
        watched.open(f"/sprints/{sprint}#{named}", heading="Talks a lot")
        expect(log).to_contain_text("line 4242 of many")

        with page.expect_download() as download:
            page.get_by_role("button", name="Download", exact=True).click()
        text = download.value.path().read_text()
        assert text.count(" of many") == LINES, "the whole log, not what is on screen"
