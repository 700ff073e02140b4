"""Reading a diff: colours, context, a tree of files, remarks on ranges and removed lines, and long lines."""

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.acceptance.projects import MENDED, PLAN, WORSE, git, script, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import escalate, escalation_of, start
from tests.browser.watched import Watched

FILES = 99
MANY = 398
"""A plan, a mended file, and 99 more in each of four attempts."""
LONG = 2_000
BEFORE = [f"line_{number} = {number}" for number in range(1, 61)]
AFTER = [*BEFORE[:29], "def line_30(): return 'thirty'", *BEFORE[30:]]


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def test_code_has_colours_and_context(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    (repo / "lines.py").write_text(_text(BEFORE))
    git(repo, "add", "lines.py")
    git(repo, "commit", "-q", "-m", "lines")
    wide = f"wide = '{'x' * LONG}'\n"
    with service.client() as client:
        sprint = escalate(
            client, repo, write("lines.py", _text(AFTER)), write("wide.py", wide), name="Changes one line"
        )
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Changes one line")
    file = page.locator("[data-file='lines.py']")
    expect(file.locator(".token.keyword", has_text="def")).to_be_visible()
    expect(file.get_by_text("line_31 = 31")).to_be_visible()
    expect(file.get_by_text("line_50 = 50")).to_have_count(0)
    file.get_by_role("button", name="More lines").click()
    expect(file.get_by_text("line_50 = 50").first).to_be_visible()
    file.get_by_role("button", name="More lines").click()
    expect(file.get_by_text("line_1 = 1").first).to_be_visible()
    expect(file.get_by_role("button", name="More lines")).to_have_count(0)

    row = page.locator("[data-file='wide.py'] .diff-code-insert")
    assert len(row.inner_text()) < LONG
    watched.audit()
    watched.shoot("diff-colours")
    page.get_by_role("button", name="characters of line 1").click()
    expect(row).to_contain_text("x" * LONG)


def test_many_files_are_found_and_viewed(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    edits = [write(f"made/part_{number:03}.txt", f"{number}\n") for number in range(FILES)]
    edits.append(write("made/👩\u200d💻.md", "at work\n"))
    with service.client() as client:
        sprint = escalate(client, repo, *edits, name="Writes many files")
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Writes many files")
    tree = page.get_by_role("region", name="Changed files")
    expect(tree.get_by_role("link").first).to_be_visible()
    assert tree.get_by_role("link").count() < FILES / 2, "rows out of sight are not on the page"
    page.get_by_role("searchbox", name="Find changed files").fill("_03")
    expect(tree.get_by_role("link")).to_have_count(10)
    tree.get_by_role("link", name="part_037.txt").click()
    file = page.locator("[data-file='made/part_037.txt']")
    expect(file).to_be_in_viewport()
    expect(tree, "the list stays beside the file").to_be_in_viewport()
    file.get_by_role("checkbox", name="Viewed").check()
    expect(file.locator(".diff-code-insert")).to_have_count(0)
    expect(page.get_by_text(f"1 of {FILES + 1} viewed")).to_be_visible()
    page.get_by_role("searchbox", name="Find changed files").fill("👩")
    expect(tree.get_by_role("link")).to_have_text(["👩\u200d💻.md"])
    page.reload()
    expect(page.get_by_text(f"1 of {FILES + 1} viewed")).to_be_visible()


def _parts(first: int) -> list[dict[str, Any]]:
    """A script writes at most a hundred files in an attempt."""
    return [write(f"made/part_{number:03}.txt", f"{number}\n" * 20) for number in range(first, first + 99)]


def test_four_hundred_files_can_be_worked_through(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    discovery = [step("Discovery Complete", write("implementation_plan.md", PLAN), *_parts(0))]
    tries = [WORSE, WORSE.replace("4", "5"), MENDED]
    coding = [
        step("Coding Complete", write("shares.py", text), *_parts(99 * number))
        for number, text in enumerate(tries, 1)
    ]
    with service.client() as client:
        agent = script(*coding, discovery=discovery)
        sprint = start(client, repo, agent, name="Writes four hundred", phases=["discovery", "coding"])
        assert until_rest(client, sprint)["status"] == "completed"
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Writes four hundred")
    expect(page.locator(".diff-code-insert").first).to_be_visible()
    # Keys work before all files are drawn.
    keys.press("}")
    expect(page.locator(".diff-code-selected").first).to_be_in_viewport()
    expect(page.locator("[data-file]")).to_have_count(MANY)
    page.get_by_role("searchbox", name="Find changed files").fill("_395")
    page.get_by_role("link", name="part_395.txt").press("Enter")
    last = page.locator("[data-file='made/part_395.txt']")
    expect(last).to_be_in_viewport()
    expect(last.locator(".diff-code-insert")).to_have_count(20)
    blocks = page.locator(".diff-block")
    expect(blocks).to_have_count(MANY)
    drawn = "all => all.filter((each) => each.firstElementChild.checkVisibility(CHECK)).length"
    assert blocks.evaluate_all(drawn.replace("CHECK", "{ contentVisibilityAuto: true }")) < MANY / 4


def test_remarks_on_ranges_and_removed_lines_reach_the_prompt(
    service: Service, watched: Watched, repo: Path
) -> None:
    page, keys = watched.page, watched.page.keyboard
    (repo / "lines.py").write_text(_text(BEFORE))
    git(repo, "add", "lines.py")
    git(repo, "commit", "-q", "-m", "lines")
    with service.client() as client:
        sprint = escalate(client, repo, write("lines.py", _text(AFTER)), name="Is remarked on")
        escalation = escalation_of(client, sprint)
    watched.open(f"/escalations/{escalation}", heading="Is remarked on")
    file = page.locator("[data-file='lines.py']")
    file.locator(".diff-gutter-delete").first.click()
    removed = page.get_by_role("textbox", name="Comment on removed line 30 of lines.py")
    removed.fill("Why is it gone?")
    file.locator(".diff-gutter-insert").last.click()
    page.get_by_role("textbox", name="Comment on line 30 of lines.py").fill("Shorter.")
    page.get_by_role("spinbutton", name="From line").last.fill("29")
    page.get_by_role("button", name="Suggest a change").click()
    expect(page.get_by_role("textbox", name="Comment on line 30 of lines.py")).to_have_value(
        f"Shorter.\n```suggestion\n{_text(AFTER[28:30])}```"
    )
    watched.audit()
    watched.shoot("diff-remarks")
    keys.press("Escape")
    page.reload()
    expect(removed).to_have_value("Why is it gone?")
    page.get_by_role("radio", name="Retry").check()
    page.get_by_role("button", name="Retry, 1 further attempt").click()
    expect(page.get_by_text("decided by")).to_be_visible()
    expect(page.get_by_text("All you wrote is in its prompt")).to_be_visible()
    with service.client() as client:
        until_rest(client, sprint)
        prompt = ok(client.get(f"/runs/{sprint}/attempts/discovery/2"))["prompt"]
    assert "lines.py:30 (removed): Why is it gone?" in prompt
    assert "lines.py:29-30: Shorter." in prompt
