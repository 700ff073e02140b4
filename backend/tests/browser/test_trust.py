"""Whether the gates can be trusted, on one screen: calibration, production, and what observed gates saw."""

from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import expect

from app.schemas.calibration import CalibrationReport, Label, Rate, Scorecard
from app.services.measure.calibrations import CalibrationShelf
from tests.acceptance.projects import WORSE, git, script, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import start
from tests.browser.watched import Watched

NARROW = {"width": 390, "height": 844}
AT = datetime(2026, 3, 4, 12, tzinfo=UTC)
OBSERVED = "[evaluators.ruff_lint]\nobserve = true\n[evaluators.pytest]\nobserve = true\n"


def _calibrated() -> CalibrationReport:
    def card(name: str, bad_passed: int, good_failed: int) -> Scorecard:
        none = Rate(count=0, of=100, low=0, high=0.04)
        return Scorecard(
            name=name,
            bad_passed=Rate(count=bad_passed, of=60, low=0, high=1),
            good_failed=Rate(count=good_failed, of=40, low=0, high=1),
            errored=none,
            skipped=none,
        )

    return CalibrationReport(
        corpus="attacks",
        cases={Label.GOOD: 40, Label.GAMED: 60},
        seconds=1,
        panel=card("panel", 3, 1),
        evaluators=[card("ruff_lint", 45, 0)],
        surprises=[],
        mended=[],
        outcomes=[],
    )


def test_what_is_known_of_the_gates_is_on_one_screen(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    (repo / "phaserunner.toml").write_text(OBSERVED)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Observe")
    with service.client() as client:
        agent = script(step("Coding Complete", write("shares.py", WORSE)))
        sprint = start(client, repo, agent, name="Observed only", phases=["coding"])
        assert until_rest(client, sprint)["status"] == "completed"
        seen = {each["evaluator"]: each for each in ok(client.get("/metrics/observed"))["gates"]}
    watched.open("/metrics", heading="Metrics")
    trust = page.get_by_role("region", name="Trust", exact=True)
    expect(trust).to_contain_text("No calibration is known")
    expect(trust).to_contain_text("phaserunner evaluators calibrate attacks --keep")

    CalibrationShelf(service.log.parent).keep(_calibrated(), AT, whole=True)
    watched.open("/metrics", heading="Metrics")
    expect(trust).to_contain_text("Last calibration: attacks, 100 cases")
    expect(trust).to_contain_text("2026")
    together = trust.get_by_role("row").filter(has_text="All gates together")
    expect(together).to_contain_text("5 % 3 of 60")
    expect(together).to_contain_text("no data")
    lint = trust.get_by_role("row").filter(has_text="ruff_lint")
    expect(lint).to_contain_text("75 % 45 of 60")
    observed = page.get_by_role("region", name="Observed gates")
    row = observed.get_by_role("row").filter(has_text="ruff_lint")
    block = seen["ruff_lint"]["would_block"]
    expect(row).to_contain_text(f"{block['count']} of {block['of']}")
    watched.audit()
    watched.shoot("trust")
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.shoot("trust-narrow")

    row.get_by_role("link", name="ruff_lint").click()
    page.get_by_role("heading", level=1, name="ruff_lint").wait_for()
    expect(page.get_by_text("Calibrated on attacks")).to_contain_text("bad cases that passed 75 % (45 of 60")
    expect(page.get_by_role("heading", name="While it was observed")).to_be_visible()
    watched.audit()
    watched.shoot("trust-evaluator-narrow")
    page.get_by_role("list", name="What it would have blocked").get_by_role("link").first.click()
    page.get_by_role("heading", level=1, name="Observed only").wait_for()
    assert "evaluator=ruff_lint" in page.url
