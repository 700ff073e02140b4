"""What the page shows of a pull request: its review, the round that answers it, and how it ended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.acceptance.forge_scene import Scene, deliver, operator_file, settings_for, until
from tests.acceptance.projects import MENDED, git, make_repository, script, step, write
from tests.acceptance.server import Service, ok, serving
from tests.browser.conftest import NewPageOn
from tests.forge_double import github_double, signed
from tests.git_http import serving_git

PULL = 100
AGENT = script(
    step("Mended. Coding Complete", write("shares.py", MENDED)),
    step(
        "Documented. Coding Complete",
        write("shares.py", '"""Shares."""\n\n\n' + MENDED),
        expects=["D100 Missing docstring"],
    ),
)
REVIEW = """
[repositories.review]
rounds = 2
settle_seconds = 0.2
"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    project = make_repository(tmp_path / "project")
    git(project, "checkout", "-q", "--", "README.md")
    with serving_git(tmp_path / "served") as server:
        bare = server.create("acme/shares", project)
        with github_double("acme/shares", server.url, bare) as forge:
            file = tmp_path / "forges.toml"
            file.write_text(operator_file(server.url, forge.url, AGENT, REVIEW))
            yield Scene(forge, settings_for(str(file)))


def test_a_pull_request_its_round_and_its_end(
    scene: Scene, database_url: str, tmp_path: Path, new_page_on: NewPageOn
) -> None:
    forge = scene.forge
    forge.add_issue(7, "half(8) must be 4", "Today it is 2.")
    with serving(database_url, tmp_path / "data", env=scene.env) as service:
        deliver(service, signed(forge.labeled(7, "phaserunner"), "issues"))
        until(lambda: PULL in forge.pulls)
        root = await_review(service)
        watched = new_page_on(service.url)
        watched.open(f"/sprints/{root}")
        place = watched.page.locator("[data-forge]")
        expect(place).to_contain_text("#100")
        expect(place).to_contain_text("for issue #7")
        expect(place.locator("[data-review]")).to_contain_text("watching: waits for a review")
        board = new_page_on(service.url)
        board.open("/backlog")
        in_review = board.page.get_by_role("region", name="In review")
        expect(in_review.get_by_role("link", name="#7 half(8) must be 4")).to_be_visible()
        board.page.close()
        head = str(forge.head_of(forge.pulls[PULL]["head"]["ref"]))
        failed = forge.check(head, "lint", "failure", "D100 Missing docstring\n##[error]exit code 1")
        deliver(service, signed(failed, "check_run"))
        until(lambda: str(forge.head_of(forge.pulls[PULL]["head"]["ref"])) != head)
        until(lambda: review_of(service, root)["state"] == "watching")
        watched.page.reload()
        expect(place.locator("[data-review]")).to_contain_text("watching after 1 round")
        place.get_by_role("link", name="newest round").click()
        expect(place).to_contain_text("This is a round")
        expect(place.get_by_role("link", name=f"run {root[:8]}")).to_be_visible()
        watched.audit()
        watched.shoot("round")
        deliver(service, signed(forge.merge(PULL), "pull_request"))
        until(lambda: review_of(service, root)["state"] == "ended")
        until(lambda: forge_of(service, root)["ended_as"])
        watched.open(f"/sprints/{root}")
        # The round edited the first run's result, and ada merged it.
        expect(place).to_contain_text("merged by ada")
        expect(place).to_contain_text(", 60 % of the lines edited after this run")
        expect(place.locator("[data-review]")).to_contain_text("merged")
        watched.page.goto(f"{service.url}/")
        expect(watched.page.locator("[data-pull]").first).to_contain_text("merged")
        watched.page.close()


def await_review(service: Service) -> str:
    """Wait until the first run's pull request is followed; give the run's id."""
    with service.client() as client:
        root: str = ok(client.get("/runs"))["items"][-1]["id"]
    until(lambda: review_of(service, root).get("reason"))
    return root


def review_of(service: Service, root: str) -> dict[str, str]:
    """Read the review from the API; empty while there is none."""
    return forge_of(service, root)["review"] or {}


def forge_of(service: Service, root: str) -> dict[str, Any]:
    """Read the run's place on the forge from the API."""
    with service.client() as client:
        place: dict[str, Any] = ok(client.get(f"/runs/{root}"))["forge"]
        return place
