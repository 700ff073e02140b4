"""Cases made of problems: hand-written ones, and what is wrong with a file of problems."""

import gzip
import json
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.corpora.builtin import Build, built_in, choose, load_corpus
from app.corpora.format import CorpusCase, check_corpus, write_corpus
from app.corpora.humaneval import humaneval_cases
from app.schemas.calibration import Label
from app.schemas.runs import Phase

PROBLEM = {
    "task_id": "HumanEval/7",
    "prompt": 'def helper(x):\n    return x\n\n\ndef double(x: int) -> int:\n    """Twice."""\n',
    "entry_point": "double",
    "canonical_solution": "    return helper(x) * 2\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert helper(3) == 3\n",
}


def written(path: Path, *problems: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in problems), encoding="utf-8")
    return path


def text(case: CorpusCase, tree: str, path: str) -> str:
    content = getattr(case, tree)[path]
    assert isinstance(content, bytes)
    return content.decode()


def test_a_problem_becomes_a_good_case_a_stub_and_mutants(tmp_path: Path) -> None:
    cases = humaneval_cases(written(tmp_path / "data.jsonl", PROBLEM), mutations=2)
    check_corpus(cases)
    assert [(each.name, each.label) for each in cases] == [
        ("humaneval-7-good", Label.GOOD),
        ("humaneval-7-stub", Label.BAD),
        ("humaneval-7-mutant-1", Label.BAD),
        ("humaneval-7-mutant-2", Label.BAD),
    ]
    good, stub, *mutated = cases
    assert text(good, "candidate", "solution.py").endswith("    return helper(x) * 2\n")
    assert text(good, "base", "solution.py").endswith("    raise NotImplementedError\n")
    assert text(stub, "candidate", "solution.py").endswith('"""Twice."""\n    pass\n')
    test = text(good, "candidate", "tests/test_solution.py")
    assert "from solution import double, helper\n" in test
    assert test.endswith("def test_double():\n    check(double)\n")
    # What the prompt gives is not the solution's: it stays as it is.
    assert all("def helper(x):\n    return x\n" in text(each, "candidate", "solution.py") for each in mutated)
    assert {each.base["tests/test_solution.py"] for each in cases} == {
        each.candidate["tests/test_solution.py"] for each in cases
    }


def test_a_compressed_file_and_blank_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(f"\n{json.dumps(PROBLEM)}\n\n".encode()))
    assert len(humaneval_cases(path, mutations=0)) == 2


@pytest.mark.parametrize(
    ("content", "field", "detail"),
    [
        pytest.param(b"{", ", line 1", "not JSON", id="not JSON"),
        pytest.param(b"\n[]", ", line 2", "not a JSON object", id="not an object"),
        pytest.param(b"{}", ", line 1: task_id", "must be a text", id="a field is missing"),
        pytest.param(b"\x1f\x8bxx", "", "cannot be read", id="not gzip"),
        pytest.param(b"\xff", "", "cannot be read", id="not UTF-8"),
        pytest.param(
            json.dumps(PROBLEM | {"canonical_solution": "    return ("}).encode(),
            ", line 1",
            "not Python",
            id="not Python",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, content: bytes, field: str, detail: str) -> None:
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=detail) as caught:
        humaneval_cases(path)
    assert caught.value.field == f"{path}{field}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        humaneval_cases(tmp_path / "none")


def test_a_directory_may_have_the_name_of_a_built_in_corpus(tmp_path: Path) -> None:
    mine = CorpusCase(name="mine", label=Label.GOOD, about="x", candidate={"a": b""})
    write_corpus([mine], tmp_path / "humaneval")
    assert load_corpus(str(tmp_path / "humaneval"), Build()) == (mine,)
    data = written(tmp_path / "data.jsonl", PROBLEM)
    assert len(load_corpus("humaneval", Build(data, mutations=1))) == 3
    with pytest.raises(InvalidInputError, match="there is no 'mine'"):
        built_in("mine", Build())


def test_a_limit_spreads_over_the_whole_corpus() -> None:
    cases = tuple(
        CorpusCase(name=str(n), label=Label.BAD, about="x", candidate={}, phase=Phase.CODING)
        for n in range(10)
    )
    assert [each.name for each in choose(cases, None, 4)] == ["0", "2", "5", "7"]
    assert choose(cases, None, 99) == cases
    assert choose(cases, Phase.VERIFICATION, 4) == ()
