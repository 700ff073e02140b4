"""Metrics and evaluators: the API's numbers with what they rest on, and verdicts that are marked."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.acceptance.server import Service, ok
from tests.browser.sprints import complete, escalate
from tests.browser.watched import Watched

TILES = {
    "pass@1": ("passes", "pass_at_1"),
    "pass@2": ("passes", "pass_at_2"),
    "pass@3": ("passes", "pass_at_3"),
    "Escalated": ("escalations", "rate"),
}


def test_metrics_show_the_services_numbers(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        escalate(client, repo, name="Asks")
        complete(client, repo, name="Passes")
        report = ok(client.get("/metrics"))
    watched.open("/metrics", heading="Metrics")
    for title, (part, name) in TILES.items():
        share = report[part][name]
        tile = page.get_by_role("region", name=title, exact=True)
        expect(tile).to_contain_text(f"{share['value'] * 100:.0f} %")
        expect(tile).to_contain_text(f"{share['count']} counted runs of {share['of']} considered runs")
    decided = page.get_by_role("region", name="Decisions").get_by_role("row")
    for decision, share in report["escalations"]["decisions"].items():
        expect(decided.filter(has_text=decision)).to_contain_text(_cell(share))
    reasons = page.get_by_role("region", name="Escalation reasons")
    out = reasons.get_by_role("row").filter(has_text="Out of attempts")
    expect(out).to_contain_text(_cell(report["escalations"]["reasons"]["attempts_exhausted"]))
    expect(reasons).not_to_contain_text("human")
    for each in report["evaluators"]:
        row = (
            page.get_by_role("region", name="Evaluators")
            .get_by_role("row")
            .filter(has_text=each["evaluator"])
        )
        expect(row).to_contain_text(f"n = {each['latency']['n']}")
        expect(row.get_by_role("cell").nth(3)).to_contain_text(_cell(each["wrong_passes"]))

    tile = page.get_by_role("region", name="Escalated", exact=True)
    tile.get_by_role("link", name="counted runs").click()
    expect(page.get_by_text("Runs counted in this figure")).to_be_visible()
    expect(_runs(page)).to_have_count(report["escalations"]["rate"]["count"])
    page.go_back()
    page.get_by_role("heading", level=1, name="Metrics").wait_for()
    page.get_by_text("Figures as a table").click()
    watched.audit()


def test_a_verdict_is_marked_on_its_evaluators_page(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        escalate(client, repo, name="Judged wrongly")
    watched.open("/evaluators", heading="Evaluators")
    page.get_by_role("link", name="plan_artifact").click()
    page.get_by_role("heading", level=1, name="plan_artifact").wait_for()
    page.get_by_label("Verdict", exact=True).select_option("failed")
    expect(page).to_have_url(f"{service.url}/evaluators/plan_artifact?status=failed")
    verdict = page.get_by_role("article").filter(has_text="Judged wrongly")
    verdict.get_by_role("button", name="Was it right?").click()
    verdict.get_by_label("Why").fill("a plan in other words")
    watched.audit()
    watched.shoot("evaluator-marking")
    verdict.get_by_role("button", name="It was a wrong fail").click()
    expect(verdict).to_contain_text("says it was a wrong fail")
    with service.client() as client:
        record = ok(client.get("/evaluators/plan_artifact"))["record"]["marked"]["wrong_fails"]
    assert record["count"] >= 1
    shown = page.get_by_role("definition").filter(
        has_text=f"{record['count']} of {record['of']}, 95 % interval"
    )
    expect(shown.first).to_be_visible()
    verdict.get_by_role("button", name="Withdraw").click()
    expect(verdict.get_by_text("says it was a wrong fail")).to_have_count(0)


def test_verdicts_are_marked_by_keys_one_after_the_other(
    service: Service, watched: Watched, repo: Path
) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        escalate(client, repo, name="Marked first")
        escalate(client, repo, name="Marked second")
        before = ok(client.get("/evaluators/plan_artifact"))["record"]["marked"]["wrong_fails"]
    watched.open("/evaluators/plan_artifact", heading="plan_artifact")
    page.get_by_role("button", name="Mark one after the other").click()
    verdict = page.get_by_role("article")
    expect(verdict).to_contain_text("Marked second")
    watched.audit()
    watched.shoot("marking")
    keys.press("n")
    expect(verdict).to_contain_text("Marked first")
    keys.press("z")
    expect(verdict).to_contain_text("Marked second")
    keys.press("n")
    expect(verdict).to_contain_text("Marked first")
    keys.press("y")
    expect(verdict.filter(has_text="Marked first")).to_have_count(0)
    with service.client() as client:
        after = ok(client.get("/evaluators/plan_artifact"))["record"]["marked"]["wrong_fails"]
    assert (after["count"], after["of"]) == (before["count"] + 1, before["of"] + 2)


def test_metrics_are_narrowed_and_saved(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        complete(client, repo, name="Measured")
        sprints = ok(client.get("/metrics", params={"kind": "sprint"}))
    watched.open("/metrics", heading="Metrics")
    page.get_by_label("Kind").select_option("sprint")
    tile = page.get_by_role("region", name="pass@1", exact=True)
    share = sprints["passes"]["pass_at_1"]
    expect(tile).to_contain_text(f"{share['count']} counted runs of {share['of']} considered runs")
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("No runs match these filters")).to_be_visible()
    assert "to=2020-01-01" in page.url
    page.go_back()
    page.get_by_role("checkbox", name="Rolling trend").check()
    expect(page.get_by_text("By week, with the 3 before")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "share,count,of,value,low,high"
    assert any(line.startswith(f"passes.pass_at_1,{share['count']},{share['of']},") for line in lines)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    kept = json.loads(saved.value.path().read_text())["report"]["passes"]["pass_at_1"]
    assert (kept["count"], kept["of"]) == (share["count"], share["of"])
    point = page.locator("[data-point]").first
    expect(point.locator("title")).to_contain_text("95 % interval", use_inner_text=False)
    expect(page.locator("[data-day]").first).to_contain_text("20")
    size = float((point.locator("path").get_attribute("transform") or "").rpartition("scale(")[2].rstrip(")"))
    assert size == pytest.approx(0.5 + 0.7 * min(1, share["of"] / 30)), "its size says how many cases"
    watched.audit()
    watched.shoot("metrics-narrowed")
    page.locator("[data-point]").first.click()
    expect(page.get_by_text("All runs considered for this figure")).to_be_visible()


def _cell(share: dict[str, Any]) -> str:
    """What a table says of a share: without cases never a percentage."""
    return "no data" if share["of"] == 0 else f"{share['count']} of {share['of']}"


def _runs(page: Page) -> Locator:
    return page.get_by_role("region", name="Runs").get_by_role("row").filter(has=page.get_by_role("cell"))
