"""Sprints of issues hide test cases as the project or a comment says, and pull requests have all of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
from sqlalchemy import exists, select

from app.db.models import ForgeDelivery, ForgeReport, HeldOut, Run
from app.schemas.api.forges import IssueSprintCreate
from app.schemas.api.run_details import HeldOutView
from app.schemas.api.sprints import SprintCreate
from app.schemas.held_out import HeldOutInput
from app.services.forges.issues import IssueService
from tests.forge_double import signed
from tests.git_http import run_git
from tests.integration.services.test_forge_interleavings import REPO, world
from tests.integration.services.test_round_interleavings import PULL, REVIEW, Reviewed

pytestmark = pytest.mark.anyio

ROWS = "import pytest\n\n\n@pytest.mark.parametrize('x', [1, 2, 3, 4, 5])\ndef test_x(x):\n    assert x\n"
MORE_ROWS = ROWS.replace("5]", "5, 6]")
TOML = "[tests]\nheld_out_share = 0.4\n"


@asynccontextmanager
async def project(database_url: str, place: Path, toml: str = TOML) -> AsyncGenerator[Reviewed]:
    """Open a forge with an issue that names a test file."""
    async with world(database_url, place, Reviewed, REVIEW) as opened:
        here = cast("Reviewed", opened)
        here.commit("main", "test_a.py", ROWS)
        if toml:
            here.commit("main", "phaserunner.toml", toml)
        here.forge.add_issue(7, "Make test_a.py pass", "")
        yield here


async def shown(here: Reviewed) -> tuple[Run, HeldOutView | None, int]:
    """Return the newest run, what it says of held-out tests, and how many commas its table has."""
    async with here.parts.sessions() as session:
        run = (await session.scalars(select(Run).order_by(Run.created_at.desc()).limit(1))).one()
    repository = await here.parts.trees.repository(run.id)
    text = await repository.read_file(run.base_commit, "test_a.py", 1000)
    assert text is not None
    return run, (await here.parts.queries.get(run.id)).held_out, text.count(b",")


async def asked(here: Reviewed, comment: str) -> None:
    """Let a person write a comment on the issue, and the service act on it.

    On a busy machine a try may be out of time. The service gives up after some tries, which ends the loop.
    """
    here.request = signed(here.forge.commented(7, comment), "issue_comment")
    await here.do("webhook")
    while await _is_pending(here):
        await here.do("work")


async def _is_pending(here: Reviewed) -> bool:
    async with here.parts.sessions() as session:
        return bool(await session.scalar(select(exists().where(ForgeDelivery.status == "pending"))))


async def test_a_labeled_issue_hides_the_projects_share_and_its_pull_request_has_all(
    database_url: str, tmp_path: Path
) -> None:
    async with project(database_url, tmp_path) as here:
        await here.do("webhook")
        await here.do("work")
        _, held_out, commas = await shown(here)
        assert held_out is not None
        assert "2 of 5 cases are hidden from the agent. The share is 0.4, from" in held_out.note
        assert commas == ROWS.count(",") - 2
        await here.do("report")
        assert "2 of 5 cases are hidden from the agent." in here.forge.comments_of(7)[0]
        await here.do("finish")
        await here.do("report")
        assert run_git(here.forge.bare, "show", f"{here.branch}:test_a.py") == ROWS.strip()
        assert run_git(here.forge.bare, "diff", "--name-only", f"main...{here.branch}") == "b.py"
        assert here.forge.pulls[PULL]["state"] == "open"


@pytest.mark.parametrize(
    ("toml", "comment", "hidden", "guidance"),
    [
        pytest.param(TOML, "/phaserunner run Keep it.", 2, "Keep it.", id="the default"),
        pytest.param(
            TOML, "/phaserunner run --held-out-share 0.6 Keep it.", 3, "Keep it.", id="another share"
        ),
        pytest.param(TOML, "/phaserunner run --held-out-share 0", 0, "", id="none"),
        pytest.param("", "/phaserunner run --held-out-share=0.2", 1, "", id="without a default"),
        pytest.param("", "/phaserunner run", 0, "", id="nothing said"),
    ],
)
async def test_a_comment_may_name_the_share(
    database_url: str, tmp_path: Path, toml: str, comment: str, hidden: int, guidance: str
) -> None:
    async with project(database_url, tmp_path, toml) as here:
        await asked(here, comment)
        run, held_out, commas = await shown(here)
        assert commas == ROWS.count(",") - hidden
        assert (held_out is None) == (hidden == 0)
        assert run.guidance == ([f"ada asks:\n\n{guidance}"] if guidance else [])


@pytest.mark.parametrize(
    ("issue", "comment", "told"),
    [
        ("Make test_a.py pass", "/phaserunner run --held-out-share 1.5 Keep it.", "a number from 0 to 0.8"),
        ("Make test_a.py pass", "/phaserunner run --held-out-share abc", "instead of 'abc'"),
        ("Make it fast", "/phaserunner run --held-out-share 0.3", "the goal names no test in Python"),
    ],
)
async def test_a_share_that_cannot_be_hidden_is_answered_on_the_issue(
    database_url: str, tmp_path: Path, issue: str, comment: str, told: str
) -> None:
    async with project(database_url, tmp_path) as here:
        here.forge.add_issue(7, issue, "")
        await asked(here, comment)
        assert await here.runs() == []
        _, answer = here.forge.comments_of(7)
        assert told in answer.replace("\\", "")


async def test_a_default_hides_nothing_of_an_issue_without_tests_and_the_comment_says_so(
    database_url: str, tmp_path: Path
) -> None:
    async with project(database_url, tmp_path) as here:
        here.forge.add_issue(7, "Make it fast", "")
        for step in ("webhook", "work", "report"):
            await here.do(step)
        assert len(await here.runs()) == 1
        (comment,) = here.forge.comments_of(7)
        told = "No test case is hidden, although held_out_share in phaserunner.toml is 0.4"
        assert told in comment.replace("\\", "")


async def test_a_request_for_an_issue_may_name_the_share(database_url: str, tmp_path: Path) -> None:
    async with project(database_url, tmp_path) as here:
        issues = IssueService(here.parts.sprints, here.members, here.forges())
        url = f"{here.members.file.forges['github'].web}/{REPO}/issues/7"
        request = IssueSprintCreate(issue=url, held_out=HeldOutInput(share=0.6))
        sprint = await issues.start(request, "ada")
        assert sprint.held_out is not None
        assert sprint.held_out.cases is not None
        assert (sprint.held_out.cases.hidden, sprint.held_out.cases.total) == (3, 5)


async def held_out_files(here: Reviewed, run_id: UUID) -> list[str] | None:
    async with here.parts.sessions() as session:
        kept = await session.get(HeldOut, run_id)
    return None if kept is None else sorted(kept.files)


async def begin_round(here: Reviewed) -> Run:
    """Let a review of the pull request start a round."""
    await here.happen("say")
    for event in ("work", "look", "look"):
        await here.happen(event)
    return (await shown(here))[0]


async def test_a_round_is_judged_by_the_targets_tests_and_hides_nothing(
    database_url: str, tmp_path: Path
) -> None:
    async with project(database_url, tmp_path) as here:
        await here.offer()
        here.commit("main", "test_a.py", MORE_ROWS)
        begun = await begin_round(here)
        assert begun.guidance == ["\n".join(await here.guidance())]
        _, held_out, commas = await shown(here)
        assert held_out is None, "the older version of these tests would judge the round, too"
        assert commas == MORE_ROWS.count(",")
        assert await held_out_files(here, begun.id) is None


async def test_a_round_keeps_the_tests_that_the_first_request_brought(
    database_url: str, tmp_path: Path
) -> None:
    async with project(database_url, tmp_path) as here:
        web = here.members.file.forges["github"].web
        request = {
            "goal": "Make test_a.py pass",
            "source": {"kind": "git", "url": f"{web}/{REPO}", "ref": "main", "credential": "acme"},
            "phases": ["coding"],
            "held_out": {"files": {"test_unseen.py": "def test_unseen():\n    assert 2\n"}},
        }
        sprint = await here.parts.sprints.start(SprintCreate.model_validate(request), "ada")
        place = {"forge": "github", "repository": REPO, "issue": 7, "wanted": 1}
        async with here.parts.sessions.begin() as session:
            session.add(ForgeReport(run_id=sprint.id, **place))
        await here.do("finish")
        await here.do("report")
        begun = await begin_round(here)
        assert begun.id != sprint.id
        assert await held_out_files(here, begun.id) == ["test_unseen.py"]
