"""The list of honest changes, the order in which they are judged, and the results that are kept of them."""

import subprocess
from pathlib import Path

import pytest

from app.schemas.api.workspace_reports import EvaluationReport, JudgedEvaluation
from app.schemas.questions import QUESTIONS, Question, QuestionKind
from benchmarks.real_commit_cases import LIST, Case, ListError, choose, read_list
from benchmarks.real_commit_results import (
    JudgedCase,
    Outcome,
    add_result,
    judged,
    read_results,
    table,
    unjudged,
)
from benchmarks.real_commit_trees import FetchError, laid_out

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CASE = Case("tea", "", COMMIT)


def test_the_list_in_the_repository_is_as_long_and_wide_as_asked_for() -> None:
    listed = read_list(LIST.read_text("utf-8"))
    assert len(listed.cases) >= 100
    assert len({each.project for each in listed.cases}) >= 28
    assert any(each.is_release for each in listed.cases)


def test_commits_and_releases_are_read() -> None:
    text = f'[commits]\ntea = ["{COMMIT}"]\n[releases]\npot = [["1.0", "1.1"]]\n'
    assert [each.name for each in read_list(text).cases] == ["tea@012345678", "pot@1.0..1.1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("[commits", "not TOML", id="not TOML"),
        pytest.param('commits = ["a"]', "commits must be a table", id="no table"),
        pytest.param('[commits]\ntea = "HEAD"', "commits.tea must be a list", id="no list"),
        pytest.param('[commits]\ntea = ["HEAD"]', "commits.tea: 'HEAD'", id="a name in place of a commit"),
        pytest.param(
            '[commits]\ntea = ["--upload-pack=x"]', "commits.tea", id="an option in place of a commit"
        ),
        pytest.param(f'[commits]\n"../tea" = ["{COMMIT}"]', "a project's name", id="a path as project"),
        pytest.param('[releases]\ntea = [["1.0"]]', "two versions", id="one version"),
        pytest.param('[releases]\ntea = [["1.0", 2]]', "releases.tea: 2", id="a number as version"),
        pytest.param(f'[commits]\ntea = ["{COMMIT}", "{COMMIT}"]', "twice", id="twice"),
        pytest.param('[rightly_refused]\n"tea@1" = "why"', "tea@1 is not in the list", id="unknown case"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_by_the_name_of_the_entry(text: str, words: str) -> None:
    with pytest.raises(ListError, match=words.replace(".", r"\.")):
        read_list(text)


def test_one_case_of_each_project_comes_before_the_second_of_any() -> None:
    cases = [Case("a", "", f"{n}" * 40) for n in "12"] + [Case("b", "", "3" * 40)]
    assert [each.project for each in choose(cases, [], None)] == ["a", "b", "a"]
    assert [each.project for each in choose(cases, [], 2)] == ["a", "b"]
    assert [each.name for each in choose(cases, ["b", "a@222222222"], None)] == ["a@222222222", "b@333333333"]


def test_a_name_that_the_list_does_not_have_is_refused() -> None:
    with pytest.raises(ListError, match="--only coffee"):
        choose([CASE], ["coffee"], None)


def _report(verdict: str, *gates: tuple[str, str, str]) -> EvaluationReport:
    results = [
        {
            "evaluator_name": name,
            "category": "testing",
            "status": status,
            "passed": status == "passed",
            "feedback": feedback,
        }
        for name, status, feedback in gates
    ]
    return EvaluationReport(
        phase="coding",
        verdict=verdict,
        score=None,
        reason="A human is asked",
        base_commit=None,
        evaluations=[JudgedEvaluation(gate=True, result=each) for each in results],
    )


@pytest.mark.parametrize(
    ("verdict", "outcome", "gate", "reason"),
    [
        pytest.param("passed", Outcome.PASSED, "", "", id="passed"),
        pytest.param("failed", Outcome.FAILED, "pytest", "1 of 2 tests failed", id="failed"),
        pytest.param("asks", Outcome.ASKED, "pytest", "A human is asked", id="asked"),
        pytest.param("errored", Outcome.NO_VERDICT, "types", "mypy ended", id="no verdict"),
    ],
)
def test_the_gate_that_decided_is_named_with_its_reason(
    verdict: str, outcome: Outcome, gate: str, reason: str
) -> None:
    gates = [("lint", "passed", "clean")]
    if verdict != "passed":
        gates += [("types", "errored", "mypy ended"), ("pytest", "failed", "1 of 2 tests failed")]
    found = judged(CASE, _report(verdict, *gates), 1.25)
    assert (found.outcome, found.gate, found.reason) == (outcome, gate, reason)
    assert [each.gate for each in found.gates] == [name for name, _, _ in gates]


def test_a_gate_that_only_asks_does_not_explain_a_fail() -> None:
    report = _report("failed", ("pytest", "failed", "1 of 2 failed"), ("types", "failed", "2 new errors"))
    asked = Question.about("t.py::test_a", QuestionKind.DIFFERENT, "does the goal say so?")
    report.evaluations[0].result["metadata"] = {QUESTIONS: [asked.model_dump(mode="json")]}
    found = judged(CASE, report, 1.0)
    assert (found.gate, found.reason) == ("types", "2 new errors")
    assert [each.asks for each in found.gates] == [True, False]


def test_results_survive_a_run_that_ended_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    add_result(path, unjudged(CASE, "no history", 0.0))
    whole = path.read_text("utf-8")
    path.write_text(whole + whole[: len(whole) // 2], "utf-8")
    add_result(path, unjudged(Case("pot", "1.0", "1.1"), "no archive", 0.0))
    assert [each.case for each in read_results(path)] == ["tea@012345678", "pot@1.0..1.1"]


def test_of_a_case_that_was_judged_twice_the_last_result_counts(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    add_result(path, unjudged(CASE, "no history", 0.0))
    add_result(path, judged(CASE, _report("passed", ("lint", "passed", "clean")), 1.0))
    assert [each.outcome for each in read_results(path)] == [Outcome.PASSED]


def test_the_table_counts_a_fail_as_wrong_unless_a_person_would_refuse_it_too() -> None:
    results = [
        JudgedCase(case=name, project="tea", outcome=Outcome.FAILED, gate="pytest", reason="a | b", seconds=1)
        for name in ("tea@1", "tea@2")
    ]
    text = table(results, {"tea@1": "it takes a function away"})
    assert "| failed | 2 of 2 | 100.0 % | 34.2 - 100.0 % |" in text
    assert "| failed, and no careful person would refuse it | 1 of 2 | 50.0 % |" in text
    assert "a \\| b" in text


def _git(tree: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    command = ["git", *who, "-C", str(tree), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.anyio
async def test_a_commit_is_laid_out_with_its_first_parent_as_base(tmp_path: Path) -> None:
    history = tmp_path / "tea"
    history.mkdir()
    _git(history, "init", "-q")
    for text in ("cold", "hot"):
        (history / "tea.py").write_text(text)
        _git(history, "add", "-A")
        _git(history, "commit", "-q", "-m", f"Make it {text}")
    commit, parent = _git(history, "rev-parse", "HEAD", "HEAD^").split()
    async with laid_out(Case("tea", "", commit), tmp_path, tmp_path / "archives") as workspace:
        assert (workspace.path / "tea.py").read_text() == "hot"
        assert (workspace.base, workspace.goal) == (parent, "Make it hot")
    assert not workspace.path.exists()


@pytest.mark.anyio
async def test_a_project_without_a_history_is_named(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="no history of tea"):
        async with laid_out(CASE, tmp_path, tmp_path / "archives"):
            pass
