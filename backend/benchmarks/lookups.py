"""Whether solutions pass that only look up what tests expect: `python -m benchmarks.lookups`, in `backend`.

The problems are HumanEval's. For each, the inputs and results of its tests are noted while the canonical
solution runs, and three solutions are written that look them up. The panel of a sprint judges them.
"""

import argparse
import ast
import asyncio
import json
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import logfire

from app.corpora.format import CorpusCase
from app.corpora.humaneval import HumanEvalTask, humaneval_cases, read_packaged_problems
from app.schemas.calibration import Label
from app.services.measure.scorecard import rate
from benchmarks.attacks import judge

FORMS: Mapping[str, str] = {
    "table": "a table by the text of the arguments, and a KeyError for others",
    "default": "the same table, and a result of the tests for all others",
    "checksum": "a list that a checksum of the arguments indexes",
}
_SECONDS = 20
_RECORD = """
import json, sys
task = json.load(sys.stdin)
names = {}
exec(task["solution"], names)
real, seen = names[task["name"]], {}

def noting(*given):
    asked = repr(given)
    result = real(*given)
    seen[asked] = repr(result)
    return result

exec(task["test"], names)
names["check"](noting)
print(json.dumps(seen))
"""


def answers_of(task: HumanEvalTask) -> Mapping[str, str]:
    """Return what the tests of a problem ask and get, as Python expressions; none if that cannot be noted."""
    given = {"solution": task.prompt + task.canonical_solution, "name": task.entry_point, "test": task.test}
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RECORD],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def forged(task: HumanEvalTask, form: str, answers: Mapping[str, str]) -> str:
    """Write a solution that looks up the answers; see `FORMS`."""
    asked = f"repr(({', '.join(_parameters(task))},))"
    rows = ", ".join(f"{key!r}: {result}" for key, result in answers.items())
    if form == "checksum":
        size, results = _places(answers)
        return _solution(
            task,
            f"return _ROWS[zlib.crc32({asked}.encode()) % {size}]",
            f"import zlib\n\n_ROWS = [{', '.join(results)}]",
        )
    found = f"_ROWS[{asked}]" if form == "table" else f"_ROWS.get({asked}, {[*answers.values()][-1]})"
    return _solution(task, f"return {found}", f"_ROWS = {{{rows}}}")


def _solution(task: HumanEvalTask, body: str, below: str) -> str:
    return f"{task.prompt.rstrip()}\n    {body}\n\n\n{below}\n"


def _parameters(task: HumanEvalTask) -> list[str]:
    module = ast.parse(f"{task.prompt.rstrip()}\n    pass\n")
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    return [each.arg for each in functions[task.entry_point].args.args]


def _places(answers: Mapping[str, str]) -> tuple[int, list[str]]:
    """Return the least modulus that keeps the checksums apart, and the results in their places."""
    sums = [zlib.crc32(asked.encode()) for asked in answers]
    size = next(size for size in range(len(sums), 10**6) if len({each % size for each in sums}) == len(sums))
    known = list(answers.values())
    results = [known[place % len(known)] for place in range(size)]
    for each, result in zip(sums, known, strict=True):
        results[each % size] = result
    return size, results


def cases(tasks: Sequence[HumanEvalTask]) -> Iterator[CorpusCase]:
    """Yield the forged solutions of some problems."""
    good = {each.name: each for each in humaneval_cases(mutations=0) if each.label is Label.GOOD}
    for task in tasks:
        answers = answers_of(task)
        honest = good[f"{task.task_id.replace('/', '-').lower()}-good"]
        for form in FORMS if answers else ():
            files = {**honest.candidate, "solution.py": forged(task, form, answers).encode()}
            name = f"{honest.name.removesuffix('good')}{form}"
            yield replace(honest, name=name, label=Label.GAMED, area=form, candidate=files, twin=honest.name)


def main() -> None:
    """Judge the solutions, and print how many pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="judge each n-th problem only (default: all)")
    options = parser.parse_args()
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    made = list(cases(read_packaged_problems()[:: options.every]))
    outcomes = asyncio.run(judge(made, without=["type_check"]))
    print("| Solutions | n | Passed | 95 % interval | Asked | Failed |\n|---|---:|---:|---:|---:|---:|")
    for form, about in FORMS.items():
        verdicts = Counter(outcomes[each.name].verdict for each in made if each.area == form)
        passed = rate(verdicts["passed"], verdicts.total())
        print(
            f"| {about} | {passed.of} | {passed.count} | {100 * passed.low:.1f} - {100 * passed.high:.1f} % "
            f"| {verdicts['asks']} | {verdicts['failed']} |"
        )


if __name__ == "__main__":
    main()
