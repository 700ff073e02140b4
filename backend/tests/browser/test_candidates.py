"""Candidates of an attempt are tabs: what each did, what the gates said, and why one was chosen."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.acceptance.projects import MENDED, script, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import start
from tests.browser.watched import Watched


@pytest.mark.parametrize("count", [1, 2])
def test_candidates_are_compared(service: Service, watched: Watched, repo: Path, count: int) -> None:
    page = watched.page
    name = f"{count} of them at {datetime.now(UTC).isoformat()}"
    agent = {**script(step("Done. Coding Complete", write("shares.py", MENDED))), "candidates": count}
    with service.client() as client:
        sprint = start(client, repo, agent, name=name, phases=["coding"])
        assert until_rest(client, sprint)["status"] == "completed"
        found = ok(client.get(f"/runs/{sprint}/attempts/coding/1"))["candidates"]
        other = next((each["index"] for each in found if not each["chosen"]), None)
        missing = client.get(f"/runs/{sprint}/attempts/coding/1/diff", params={"candidate": count})
        assert missing.status_code == 404
    watched.open(f"/sprints/{sprint}", heading=name)
    page.get_by_role("region", name="Evidence of coding attempt 1").wait_for()
    tabs = page.get_by_role("tablist", name="Candidates")
    if other is None:
        page.get_by_text("Merges cleanly").wait_for()
        expect(tabs).to_have_count(0)
        return
    expect(tabs.get_by_role("tab")).to_have_count(2)
    expect(tabs.get_by_role("tab", selected=True)).to_contain_text("chosen")
    expect(page.get_by_text(re.compile(r"^Chosen\. .*candidate 1"))).to_be_visible()
    watched.audit()
    watched.shoot("sprint-candidates")
    page.get_by_text("Candidates side by side", exact=True).click()
    columns = page.get_by_role("region", name="Candidates side by side")
    for number in (1, 2):
        column = columns.get_by_label(f"Candidate {number}", exact=True)
        expect(column).to_contain_text("shares.py")
        expect(column.locator("[data-gate=pytest]")).to_contain_text("passed")
    expect(columns.get_by_text("chosen")).to_have_count(1)
    watched.audit()
    watched.shoot("candidates-side-by-side")
    tabs.get_by_role("tab", name=f"Candidate {other + 1}").click()
    expect(page.get_by_text("Not chosen: ")).to_be_visible()
    assert f"candidate={other + 1}" in page.url
    page.get_by_role("link", name="Show its diff").click()
    expect(page.get_by_role("heading", name=f"Diff of attempt 1, candidate {other + 1}")).to_be_visible()
    expect(page.get_by_text("return amount // 2")).to_be_visible()
    page.go_back()
    expect(tabs.get_by_role("tab", selected=True)).to_contain_text(f"Candidate {other + 1}")
