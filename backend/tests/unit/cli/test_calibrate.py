"""Calibrating from the command line, with the real lint gate on cases of our own."""

from pathlib import Path

import anyio
import pytest

from app.corpora.format import CorpusCase, read_corpus, write_corpus
from app.schemas.calibration import Label
from app.services.measure.calibrations import CalibrationShelf
from tests.unit.cli.fakes import FakeService, Outcome, invoke

CLEAN, FAULTY = b"x = 1\n", b"print(gone)\n"


def case(name: str, label: Label, content: bytes, **more: str) -> CorpusCase:
    return CorpusCase(name=name, label=label, about=f"is {name}", candidate={"a.py": content}, **more)


def calibrate(tmp_path: Path, *cases: CorpusCase, arguments: tuple[str, ...] = ()) -> Outcome:
    write_corpus(cases, tmp_path / "corpus")
    words = ("evaluators", "calibrate", "corpus", "--evaluator", "ruff_lint", *arguments)
    return invoke(FakeService(), *words, cwd=tmp_path)


def test_the_table_and_the_cases_behind_it(tmp_path: Path) -> None:
    cases = [
        case("clean", Label.GOOD, CLEAN),
        case("strict", Label.GOOD, FAULTY),
        case("hidden", Label.BAD, CLEAN),
        case("plain", Label.BAD, FAULTY),
        case("known", Label.GAMED, CLEAN, residual="a linter cannot tell"),
    ]
    outcome = calibrate(tmp_path, *cases)
    assert outcome.code == 0
    assert "corpus: 5 cases (2 good, 2 bad, 1 gamed)" in outcome.out
    assert "2 of 3  66.7 % [20.8, 93.9]" in outcome.out
    assert "1 of 2  50.0 % [9.5, 90.5]" in outcome.out
    wrong, known, *_ = outcome.out.partition("Wrong verdicts: 2")[2].split("\n\n")
    assert "hidden (bad, passed) is hidden: Every gate holds" in wrong
    assert "strict (good, failed) is strict: ruff_lint: " in wrong
    assert "F821" in wrong
    assert "known (gamed, passed)" in known
    assert "(known: a linter cannot tell)" in known
    assert "strict: good, failed - wrong" in outcome.err


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        pytest.param([case("a", Label.GOOD, CLEAN), case("b", Label.BAD, FAULTY)], 0, id="all right"),
        pytest.param([case("a", Label.GOOD, FAULTY)], 1, id="a good one failed"),
        pytest.param([case("a", Label.GAMED, CLEAN)], 1, id="a gamed one passed"),
        pytest.param([case("a", Label.GAMED, CLEAN, residual="x")], 0, id="a known one passed"),
        pytest.param(
            [CorpusCase(name="a", label=Label.GOOD, about="x", candidate={"b.txt": b""})],
            6,
            id="nothing was checked in a good one",
        ),
    ],
)
def test_the_exit_code_tells_when_it_is_to(tmp_path: Path, cases: list[CorpusCase], code: int) -> None:
    assert calibrate(tmp_path, *cases, arguments=("--fail-on-surprise",)).code == code


def test_json_has_every_case(tmp_path: Path) -> None:
    cases = [case(f"c{n}", Label.GOOD, CLEAN) for n in range(5)]
    outcome = calibrate(tmp_path, *cases, arguments=("--json", "--limit", "3", "--workers", "1"))
    assert [each["name"] for each in outcome.document["outcomes"]] == ["c0", "c1", "c3"]
    assert outcome.document["panel"]["good_failed"]["of"] == 3
    assert outcome.document["outcomes"][0]["said"][0]["evaluator"] == "ruff_lint"


def test_figures_are_kept_when_asked_for_and_the_last_ones_count(tmp_path: Path) -> None:
    shelf = CalibrationShelf(tmp_path / ".phaserunner")
    calibrate(tmp_path, case("a", Label.GOOD, FAULTY))
    assert anyio.run(shelf.all) == []
    keep = ("evaluators", "calibrate", "corpus", "--evaluator", "ruff_lint", "--keep")
    invoke(FakeService(), *keep, cwd=tmp_path)
    (tmp_path / ".phaserunner" / "calibrations" / "damaged.json").write_text("{")
    (first,) = anyio.run(shelf.all)
    assert (first.corpus, first.cases, first.whole) == ("corpus", 1, False)
    assert first.evaluators[0].good_failed.value == 1.0
    assert first.evaluators[0].bad_passed.value is None
    invoke(FakeService(), *keep, cwd=tmp_path)
    (second,) = anyio.run(shelf.all)
    assert second.at > first.at


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("calibrate", "none"), "none: cannot be read", id="no such directory"),
        pytest.param(("calibrate", "."), "holds no case", id="no case in it"),
        pytest.param(("calibrate", "humaneval", "--data", "x"), "x: cannot be read", id="no such data"),
        pytest.param(("calibrate", "humaneval", "--workers", "0"), "workers", id="no worker"),
        pytest.param(("calibrate", "humaneval", "--evaluator", "x"), "there is no 'x'", id="no evaluator"),
        pytest.param(("corpus", "mine", "place"), "there is no 'mine'", id="no such corpus"),
        pytest.param(("corpus", "humaneval", "."), "is not empty", id="not an empty directory"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "notes").write_text("mine")
    outcome = invoke(FakeService(), "evaluators", *arguments, cwd=tmp_path)
    assert outcome.code == 2
    assert says in outcome.err


def test_a_built_in_corpus_is_written_for_people(tmp_path: Path) -> None:
    outcome = invoke(
        FakeService(), "evaluators", "corpus", "humaneval", "mine", "--mutants", "0", cwd=tmp_path
    )
    assert outcome.code == 0
    cases = read_corpus(tmp_path / "mine")
    assert len(cases) == 328
    assert f"328 cases are in {tmp_path / 'mine'}" in outcome.out


def test_without_a_command_the_service_is_asked_who_judges() -> None:
    service = FakeService()
    assert invoke(service, "evaluators").code != 0
    assert [each.url.path for each in service.requests] == ["/api/v1/evaluators"]
