"""What a sprint hides if its request does not say: the project's share, then the service's."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import InvalidInputError
from app.schemas.api.answers import AnswerCreate
from app.schemas.api.loops import LoopCreate
from app.schemas.api.run_details import HeldOutView, RunDetail, RunFork
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunPolicy
from app.services.control.holding_out import NO_SHARE, ShareDefault
from app.services.control.sprints import sprint_service
from tests.integration.services.loop_support import definition
from tests.integration.services.support import UseCases, git, make_repository, use_cases

pytestmark = pytest.mark.anyio

GOAL = "See tests/test_many.py."
MANY = (
    "import pytest\n\n\n"
    "@pytest.mark.parametrize('x', [11, 12, 13, 14, 15, 16, 17, 18, 19, 20])\ndef test_x(x):\n    assert x\n"
)
FEW = "def test_one():\n    assert 1\n"
BROUGHT = {"files": {"tests/test_unseen.py": "def test_unseen():\n    assert 2\n"}}
TOML = "[tests]\nheld_out_share = {}\n"
BY_FILE = "held_out_share in phaserunner.toml"
BY_SETTING = "SPRINT_HELD_OUT_SHARE"


@pytest.fixture
async def cases(database_url: str, tmp_path: Path) -> AsyncGenerator[UseCases]:
    async with use_cases(database_url, tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = make_repository(tmp_path / "project")
    (made / "tests").mkdir()
    commit(made, {"tests/test_many.py": MANY, "tests/test_few.py": FEW})
    return made


def commit(repo: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repo / name).write_text(text)
        git(repo, "add", name)
    git(repo, "commit", "-qm", "more")


async def start(
    cases: UseCases,
    repo: Path,
    default: ShareDefault = NO_SHARE,
    **fields: Any,
) -> RunDetail:
    sprints = sprint_service(replace(cases.intake, default_share=default), RunPolicy())
    source = {"kind": "local", "path": str(repo)}
    return await sprints.start(SprintCreate.model_validate({"goal": GOAL, "source": source} | fields), "ada")


async def rows_shown(cases: UseCases, sprint: RunDetail) -> int:
    """Count the rows of the table that the agent sees."""
    repository = await cases.trees.repository(sprint.id)
    shown = await repository.read_file(sprint.base_commit, "tests/test_many.py", 1000)
    assert shown is not None
    return sum(str(each).encode() in shown for each in range(11, 21))


def view_of(sprint: RunDetail) -> HeldOutView:
    assert sprint.held_out is not None
    return sprint.held_out


PRECEDENCE = {
    "nothing is said": (None, None, 0.0, 10, ""),
    "the setting": (None, None, 0.3, 7, f"The share is 0.3, from {BY_SETTING}."),
    "the file over the setting": (None, "0.5", 0.3, 5, f"The share is 0.5, from {BY_FILE}."),
    "the file alone": (None, "0.5", 0.0, 5, f"The share is 0.5, from {BY_FILE}."),
    "the file's zero over the setting": (None, "0", 0.3, 10, ""),
    "the request over both": ({"share": 0.2}, "0.5", 0.3, 8, ""),
    "the request's zero over both": ({"share": 0}, "0.5", 0.3, 10, ""),
    "the request's own tests over both": (BROUGHT, "0.5", 0.3, 10, ""),
}


@pytest.mark.parametrize(
    ("request_", "file", "setting", "shown", "told"), PRECEDENCE.values(), ids=PRECEDENCE.keys()
)
async def test_the_request_counts_before_the_project_and_the_project_before_the_service(
    cases: UseCases,
    repo: Path,
    request_: dict[str, Any] | None,
    file: str | None,
    setting: float,
    shown: int,
    told: str,
) -> None:
    if file is not None:
        commit(repo, {"phaserunner.toml": TOML.format(file)})
    given = {} if request_ is None else {"held_out": request_}
    sprint = await start(cases, repo, ShareDefault(setting), **given)
    assert await rows_shown(cases, sprint) == shown
    if shown == 10 and request_ is not BROUGHT:
        assert sprint.held_out is None
        assert sprint.base_commit == git(repo, "rev-parse", "HEAD")
        return
    view = view_of(sprint)
    assert (view.cases is None) == (shown == 10)
    assert (f"{10 - shown} of 10 cases are hidden from the agent." in view.note) == (shown < 10)
    assert ("The share is" in view.note) == bool(told)
    assert told in view.note


NOTHING = {
    "a goal that names no test": ({"goal": "Make it fast."}, "the goal names no test in Python"),
    "too few rows": ({"goal": "See tests/test_few.py."}, "they have too few rows and checks"),
    "no phase with tests": ({"phases": ["discovery"]}, "no phase of the sprint runs tests"),
    "tests that may change": ({"policy": {"open_paths": ["tests/*"]}}, "may change the goal's tests"),
    "a new project": ({"source": {"kind": "empty"}}, "the goal names no test in Python"),
}


@pytest.mark.parametrize(("fields", "why"), NOTHING.values(), ids=NOTHING.keys())
async def test_a_default_that_cannot_hide_starts_the_sprint_and_says_why(
    cases: UseCases, repo: Path, fields: dict[str, Any], why: str
) -> None:
    sprint = await start(cases, repo, ShareDefault(0.3), **fields)
    view = view_of(sprint)
    assert (view.files, view.cases, view.at_base) == ([], None, None)
    assert view.note.startswith(f"No test case is hidden, although {BY_SETTING} is 0.3: ")
    assert why in view.note
    assert view.note.endswith(".")
    assert view.note.count("\n") == 0
    assert await cases.rows.count("held_out_tests") == 0, "no gate judges the sprint"
    if "source" not in fields:
        assert sprint.base_commit == git(repo, "rev-parse", "HEAD")
    assert view == (await cases.queries.get(sprint.id)).held_out


@pytest.mark.parametrize("fields", [NOTHING["a goal that names no test"][0], NOTHING["too few rows"][0]])
async def test_the_same_share_in_a_request_is_refused(
    cases: UseCases, repo: Path, fields: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError) as raised:
        await start(cases, repo, ShareDefault(0.3), held_out={"share": 0.3}, **fields)
    assert raised.value.field == "held_out.share"
    assert await cases.rows.count("runs") == 0


async def test_tests_that_are_too_large_to_be_held_out_do_not_stop_a_sprint(
    cases: UseCases, repo: Path
) -> None:
    commit(repo, {"tests/test_many.py": MANY + "#" * 500_000})
    sprint = await start(cases, repo, ShareDefault(0.3))
    assert "they have 500,1" in view_of(sprint).note
    assert "500,000 are allowed." in view_of(sprint).note
    assert sprint.base_commit == git(repo, "rev-parse", "HEAD")


async def test_only_the_file_at_the_base_counts(cases: UseCases, repo: Path) -> None:
    (repo / "phaserunner.toml").write_text(TOML.format("0.5"))
    git(repo, "add", "phaserunner.toml")
    sprint = await start(cases, repo)
    assert sprint.held_out is None
    git(repo, "commit", "-qm", "share")
    (repo / "phaserunner.toml").write_text(TOML.format("0"))
    assert await rows_shown(cases, await start(cases, repo)) == 5


async def test_a_file_that_cannot_be_used_hides_nothing_and_is_named(cases: UseCases, repo: Path) -> None:
    commit(repo, {"phaserunner.toml": TOML.format("1.5")})
    view = view_of(await start(cases, repo, ShareDefault(0.3)))
    assert view.note.startswith(
        "No test case is hidden: phaserunner.toml at the base commit cannot be used: "
    )
    assert "phaserunner.toml:2: tests.held_out_share: must be less than or equal to 0.8" in view.note
    explicit = await start(cases, repo, held_out={"share": 0.3})
    assert await rows_shown(cases, explicit) == 7


async def test_a_file_that_the_operator_ignores_says_nothing(cases: UseCases, repo: Path) -> None:
    commit(repo, {"phaserunner.toml": TOML.format("0.5") + 'goal = ["tests/test_many.py::*"]\n'})
    assert (await start(cases, repo, ShareDefault(0.0, honour=False))).held_out is None
    assert await rows_shown(cases, await start(cases, repo, ShareDefault(0.3, honour=False))) == 7
    ignored = await start(cases, repo, ShareDefault(0.3, honour=False), goal="Make it fast.")
    assert "the goal names no test" in view_of(ignored).note
    assert await rows_shown(cases, await start(cases, repo, goal="Make it fast.")) == 5


async def test_the_default_leaves_tests_alone_that_the_project_opens(cases: UseCases, repo: Path) -> None:
    opened = '[protected]\nopen = ["tests/test_many.py"]\n'
    commit(repo, {"phaserunner.toml": TOML.format("0.5") + opened})
    assert "may change the goal's tests" in view_of(await start(cases, repo)).note
    assert await rows_shown(cases, await start(cases, repo, held_out={"share": 0.5})) == 5


async def test_loops_and_answers_hide_nothing(cases: UseCases, repo: Path) -> None:
    commit(repo, {"phaserunner.toml": TOML.format("0.5")})
    intake = replace(cases.intake, default_share=ShareDefault(0.3))
    loops, answers = replace(cases.loops, intake=intake), replace(cases.answers, intake=intake)
    source = {"kind": "local", "path": str(repo)}
    loop = await loops.start(LoopCreate.model_validate({"definition": definition(), "source": source}), "ada")
    answer = await answers.start(AnswerCreate(query="See tests/test_many.py."), "ada")
    for run_id in (loop.id, answer.id):
        assert (await cases.rows.get(run_id)).held_out_note is None
    assert await cases.rows.count("held_out_tests") == 0


@pytest.mark.parametrize(("goal", "hidden"), [(GOAL, 3), ("Make it fast.", None)])
async def test_a_fork_hides_what_its_origin_hides(
    cases: UseCases, repo: Path, goal: str, hidden: int | None
) -> None:
    origin = await start(cases, repo, ShareDefault(0.3), goal=goal)
    await cases.rows.attempt(origin.id, head_commit=origin.base_commit)
    fork = await cases.forks.fork(origin.id, RunFork.model_validate({"phase": "coding", "attempt": 1}), "bob")
    assert fork.base_commit == origin.base_commit
    assert fork.held_out == origin.held_out
    cases_hidden = view_of(fork).cases
    assert (None if cases_hidden is None else cases_hidden.hidden) == hidden
