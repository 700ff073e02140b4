"""What evaluators found stands in the diff at its line, and goes into the guidance with one click."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.projects import MENDED, TEST, WORSE, script, step, write
from tests.acceptance.server import Service, until_rest
from tests.browser.sprints import MENDS_WHEN_HELPED, escalation_of, start
from tests.browser.watched import Watched

MARKER = "424242"
HIDDEN = TEST.replace("half(8) == 4", f"half(848484) == {MARKER}").replace("test_half", "test_unseen")
WIDTHS = (1400, 390)


def test_findings_stand_in_the_diff_and_reviewers_see_what_is_held_out(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    with service.client() as client:
        run = start(
            client,
            repo,
            MENDS_WHEN_HELPED,
            name="With findings",
            phases=["coding"],
            policy={"max_attempts": 1, "held_out_feedback": "none"},
            held_out={"files": {"tests/test_unseen.py": HIDDEN}},
        )
        until_rest(client, run)
        escalation = escalation_of(client, run)
    watched.open(f"/escalations/{escalation}", heading="With findings")
    finding = page.locator("[data-finding='shares.py:1']")
    expect(finding).to_contain_text("F401")
    block = page.locator("[data-file='shares.py']").bounding_box()
    assert block is not None
    assert block["width"] > WIDTHS[0] / 2, "the diff has the width of the page"

    for_reviewers = page.locator("[data-evaluator=held_out_tests] [data-for-reviewers]")
    expect(for_reviewers).to_contain_text(MARKER)

    finding.get_by_role("button", name="Copy into guidance").click()
    guidance = page.get_by_role("textbox", name="Guidance for the next attempt")
    page.get_by_role("radio", name="Retry").check()
    expect(guidance).to_have_value(re.compile(r"F401.*shares\.py:1|shares\.py:1.*F401"))

    finding.get_by_role("link", name="ruff_lint").click()
    assert page.url.endswith("#verdict-ruff_lint")
    page.locator("#verdict-ruff_lint").get_by_role("link", name="shares.py:1").click()
    expect(finding).to_be_in_viewport()
    watched.audit()
    watched.shoot("findings-in-the-diff")
    page.set_viewport_size({"width": WIDTHS[1], "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[1]
    watched.shoot("findings-narrow")


def test_the_file_with_findings_comes_first(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    work = step("Coding Complete", write("a_note.md", "A note.\n"), write("shares.py", WORSE))
    with service.client() as client:
        policy = {"max_attempts": 1}
        run = start(client, repo, script(work), name="Two files", phases=["coding"], policy=policy)
        until_rest(client, run)
        escalation = escalation_of(client, run)
    watched.open(f"/escalations/{escalation}", heading="Two files")
    expect(page.locator("[data-finding='shares.py:1']")).to_be_visible()
    order = [str(each.get_attribute("data-file")) for each in page.locator("[data-file]").all()]
    assert order == ["shares.py", "a_note.md"]
    row = (
        page.get_by_role("region", name="Changed files").get_by_role("listitem").filter(has_text="shares.py")
    )
    expect(row).to_contain_text("findings")


def test_held_out_tests_are_given_on_the_start_page(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    watched.open("/new", heading="New sprint")
    page.get_by_label("Goal").fill("Make the failing test pass.")
    page.get_by_label("Path").fill(str(repo))
    page.get_by_role("region", name="Held-out tests").locator("summary").click()
    page.get_by_label("Patch with tests").fill(
        f"--- a/shares.py\n+++ b/shares.py\n@@ -1,2 +1,2 @@\n def half(amount: int) -> int:\n"
        f"-    return amount // 3\n+{MENDED.splitlines()[1]}\n"
    )
    with watched.excused():  # the refusal is what is looked at
        page.get_by_role("button", name="Start the sprint").click()
        error = page.locator("[data-field-error]")
        expect(error).to_contain_text("shares.py is not a test file")
        watched.audit()
        watched.shoot("new-held-out-refused")
