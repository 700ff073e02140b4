"""What a finished sprint hands over: its files, its proof, whether it merges, and every way to take it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.cli.exits import ExitCode
from tests.acceptance.projects import MENDED, git, script, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import escalate, escalation_of, start
from tests.browser.watched import Watched
from tests.patience import PATIENCE

NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1400, "height": 900}
LOOP = """<task type="director_evaluator_loop">
  <description>Write, it's due</description>
  <director><description>Write</description></director>
  <evaluator><description>Judge</description></evaluator>
</task>"""


def finish(service: Service, repo: Path, name: str) -> str:
    """A sprint whose gates passed; gives its id."""
    work = step("Done. Coding Complete", write("shares.py", MENDED), write("docs/half of it.md", "Halves.\n"))
    with service.client() as client:
        sprint = start(client, repo, script(work), name=name, phases=["coding"])
        assert until_rest(client, sprint)["status"] == "completed"
    return sprint


def run_in_shell(command: str, place: Path) -> str:
    """Run what was copied as a user would, in any directory."""
    place.mkdir(exist_ok=True)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=place,
        env={"PATH": programs, "HOME": str(place)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def copied_commands(page: Page, menu: str) -> list[str]:
    """Copy every item of a menu that a shell can run, and read the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name=menu, exact=True)
    button.click()
    shown = page.locator("[data-copies]").all_inner_texts()
    page.keyboard.press("Escape")
    commands: list[str] = []
    for number, text in enumerate(shown):
        if text.startswith(("curl ", "phaserunner ")):
            button.click()
            page.get_by_role("menuitem").nth(number).click()
            expect(page.get_by_text(" copied").last).to_be_attached()
            commands.append(page.evaluate("navigator.clipboard.readText()"))
    return commands


def test_a_finished_run_shows_its_result(
    service: Service, watched: Watched, repo: Path, tmp_path: Path
) -> None:
    page = watched.page
    sprint = finish(service, repo, "Hands over")
    watched.open(f"/sprints/{sprint}", heading="Hands over")
    card = page.get_by_role("region", name="Result", exact=True)
    expect(card.get_by_text("2 files changed")).to_contain_text("+2")
    expect(card.get_by_role("list", name="Changed files")).to_contain_text("docs/half of it.md")
    expect(card.locator("[data-proof]")).to_contain_text("pytest (1 test passed")
    expect(card.get_by_text("Merges cleanly onto main today")).to_be_visible()
    with page.expect_download() as patch:
        card.get_by_role("button", name="Download patch").click()
    git(repo, "checkout", "-q", "--", ".")
    git(repo, "apply", "--check", str(patch.value.path()))
    with page.expect_download() as bundle:
        card.get_by_role("button", name="Download bundle").click()
    git(repo, "bundle", "verify", "-q", str(bundle.value.path()))
    watched.audit()
    for size, name in ((WIDE, "wide"), (NARROW, "narrow")):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        watched.shoot(f"result-{name}")

    branch = card.locator("[data-command]").inner_text()
    run_in_shell(branch, tmp_path / "elsewhere")
    name = f"phaserunner/{sprint[:8]}"
    assert git(repo, "show", f"{name}:shares.py") == MENDED.strip()
    git(repo, "merge", "-q", "--ff-only", name)
    card.get_by_role("button", name="Check again").click()
    expect(card.get_by_text("main already contains these changes.")).to_be_visible()


def test_conflicts_name_their_files(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    sprint = finish(service, repo, "Comes too late")
    git(repo, "checkout", "-q", "--", ".")
    (repo / "shares.py").write_text("def half(amount: int) -> int:\n    return amount >> 1\n")
    git(repo, "commit", "-qam", "meanwhile")
    watched.open(f"/sprints/{sprint}", heading="Comes too late")
    card = page.get_by_role("region", name="Result", exact=True)
    expect(card.get_by_text("Conflicts with main in 1 file, which moved on")).to_be_visible()
    expect(card.get_by_role("list", name="Files in conflict")).to_have_text("shares.py")
    watched.audit()
    watched.shoot("result-conflicts")


def test_the_service_creates_the_branch_when_asked(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    sprint = finish(service, repo, "Becomes a branch")
    before = git(repo, "status", "--porcelain", "--branch")
    watched.open(f"/sprints/{sprint}", heading="Becomes a branch")
    card = page.get_by_role("region", name="Result", exact=True)
    card.get_by_role("button", name="Create the branch").click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text(str(repo))
    field = dialog.get_by_label("Name of the branch")
    expect(field).to_have_value(f"phaserunner/{sprint[:8]}")
    watched.audit()
    field.fill("not a..branch")
    with watched.excused():  # the refusal is what is looked at
        dialog.get_by_role("button", name="Create the branch").click()
        expect(dialog.get_by_role("alert")).to_contain_text("is not a branch name")
    assert git(repo, "branch", "--list", "--format=%(refname:short)") == "main"
    field.fill("halves")
    dialog.get_by_role("button", name="Create the branch").click()
    expect(card.get_by_text("Created halves")).to_be_visible()
    assert git(repo, "show", "halves:shares.py") == MENDED.strip()
    assert git(repo, "status", "--porcelain", "--branch") == before


def test_a_source_that_is_gone_is_said(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    sprint = finish(service, repo, "Lost its source")
    repo.rename(repo.with_name("moved"))
    with watched.excused():
        watched.open(f"/sprints/{sprint}", heading="Lost its source")
        card = page.get_by_role("region", name="Result", exact=True)
        expect(card.get_by_text("does not exist or cannot be reached")).to_be_visible()
        expect(card.get_by_text("2 files changed")).to_be_visible()


def test_what_is_copied_of_a_run_runs_anywhere(
    service: Service, watched: Watched, repo: Path, tmp_path: Path
) -> None:
    sprint = finish(service, repo, "Copied from")
    for path, count in ((f"/sprints/{sprint}", 4), (f"/sprints/{sprint}/diff", 2)):
        watched.open(path)
        commands = copied_commands(watched.page, "Copy")
        assert len(commands) == count
        for each in commands:
            assert run_in_shell(each, tmp_path / "elsewhere")
    assert git(repo, "show", f"phaserunner/{sprint[:8]}:shares.py") == MENDED.strip()


@pytest.mark.parametrize("kind", ["curl", "phaserunner"])
def test_a_copied_decision_decides(
    service: Service, watched: Watched, repo: Path, tmp_path: Path, kind: str
) -> None:
    page = watched.page
    reason = "It's $HOME's \"fault\"; `id`\n-- and more"
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name=f"Decided by {kind}"))
    watched.open(f"/escalations/{escalation}")
    page.get_by_role("radio", name="Reject").check()
    page.get_by_label("Reason").fill(reason)
    (command,) = [each for each in copied_commands(page, "Copy") if each.startswith(kind)]
    run_in_shell(command, tmp_path / "elsewhere")
    with service.client() as client:
        assert ok(client.get(f"/escalations/{escalation}"))["guidance"] == reason


@pytest.mark.parametrize("kind", ["curl", "phaserunner"])
@pytest.mark.parametrize("goal", ["Say it's done", '-v is "ignored" by $main'])
def test_a_copied_start_starts(
    service: Service, watched: Watched, repo: Path, tmp_path: Path, kind: str, goal: str
) -> None:
    page = watched.page
    name = f"{kind} {goal}"
    watched.open("/new", heading="New sprint")
    page.get_by_label("Goal").fill(goal)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Path").fill(str(repo))
    (command,) = [each for each in copied_commands(page, "Copy as") if each.startswith(kind)]
    # Without a model the run soon needs a person, which is an exit code of the command.
    run_in_shell(f"{command} || test $? -eq {ExitCode.WAITING}", tmp_path / "elsewhere")
    with service.client() as client:
        (started,) = ok(client.get("/runs", params={"q": name}))["items"]
        assert (started["goal"], started["project"]) == (goal, str(repo))
        client.post(f"/runs/{started['id']}/cancel", json={})


@pytest.mark.parametrize(
    ("kind", "command"), [("director_loop", "curl"), ("answer", "curl"), ("answer", "phaserunner")]
)
def test_a_copied_start_of_a_loop_or_an_answer_starts(
    service: Service, watched: Watched, tmp_path: Path, kind: str, command: str
) -> None:
    page = watched.page
    name = f"{kind} by {command}"
    watched.open(f"/new?kind={kind}")
    if kind == "answer":
        page.get_by_role("textbox", name="Query").fill("What's it worth?")
        page.get_by_label("Evidence 1").fill('It\'s "priceless", says $HOME')
    else:
        page.get_by_role("textbox", name="Definition").fill(LOOP)
    page.get_by_label("Name").fill(name)
    (copied,) = [each for each in copied_commands(page, "Copy as") if each.startswith(command)]
    place = tmp_path / "elsewhere"
    place.mkdir()
    # Without a model the run ends soon, and not well: what is looked at is that it was started.
    run_in_shell(f"{copied} || true", place)
    with service.client() as client:
        (started,) = ok(client.get("/runs", params={"q": name}))["items"]
        assert started["kind"] == kind
        client.post(f"/runs/{started['id']}/cancel", json={})
