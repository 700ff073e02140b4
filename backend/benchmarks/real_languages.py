"""Whether honest work in other languages than Python passes: judges real commits by presets."""

import argparse
import asyncio
import os
import sys
import time
import tomllib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import logfire

from app.composition.judging import evaluation_service
from app.core.config import Settings
from app.core.errors import PhaseRunnerError
from app.core.intervals import wilson
from app.schemas.api.workspace_reports import EvaluateRequest
from app.schemas.project_file import PROJECT_FILE
from app.services.local.evaluations import EvaluationService
from benchmarks.machine import machine
from benchmarks.real_commit_cases import Case
from benchmarks.real_commit_results import JudgedCase, Outcome, add_result, judged, read_results, unjudged
from benchmarks.real_commit_trees import FetchError, Workspace, laid_out

LIST = Path(__file__).with_name("real_languages.toml")
TITLE = "real languages: honest commits of people, judged by the preset of their tests"

_LIMIT_SECONDS = 900.0
_WITH_MODULES = ("JavaScript", "TypeScript")
_NO_PYTHON = "".join(
    f"[evaluators.{name}]\nenabled = false\n" for name in ("pytest", "ruff_lint", "type_check")
)


@dataclass(frozen=True, slots=True)
class Listed:
    """One commit of the list.

    Attributes:
        case: the commit.
        language: the project's language.
        presets: of its tests and its checkers.
        files: texts that replace files of the base and of the commit, by path.
    """

    case: Case
    language: str
    presets: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict[str, str])


def read_list(text: str) -> list[Listed]:
    """Read the list, one of each project first, then a second of each."""
    projects: list[dict[str, Any]] = tomllib.loads(text)["project"]
    rounds = max(len(each["commits"]) for each in projects)
    return [
        _listed(each, number)
        for number in range(rounds)
        for each in projects
        if number < len(each["commits"])
    ]


def _listed(project: Mapping[str, Any], number: int) -> Listed:
    case = Case(project["name"], "", project["commits"][number])
    presets = (project["preset"], *project.get("checkers", ()))
    return Listed(case, project["language"], presets, project.get("files", {}))


async def judge_all(listed: Sequence[Listed], place: Path, histories: Path, modules: Path | None) -> None:
    """Judge the commits that have no result yet, one at a time; write a line for each to standard error."""
    logfire.configure(send_to_logfire=False, console=False, metrics=False, inspect_arguments=False)
    results = place / "results.jsonl"
    done = {each.case for each in read_results(results)}
    settings = Settings(DATA_DIR=place / "data", SANDBOX_READABLE=[modules] if modules else [])
    async with evaluation_service(settings) as service:
        for each in listed:
            if each.case.name in done:
                continue
            result = await _judge(service, each, histories, place, modules)
            add_result(results, result)
            words = f"{each.case.name}: {result.outcome}, {result.seconds:.0f} s {result.gate}"
            sys.stderr.write(f"{words} {' '.join(result.reason.split())[:200]}\n")


async def _judge(
    service: EvaluationService, listed: Listed, histories: Path, place: Path, modules: Path | None
) -> JudgedCase:
    started = time.monotonic()
    try:
        async with _with_project_file(listed, histories, place, modules) as workspace:
            started = time.monotonic()
            request = EvaluateRequest(
                path=str(workspace.path), base=workspace.base, goal=workspace.goal, deterministic_only=True
            )
            with anyio.fail_after(_LIMIT_SECONDS):
                report = await service.judge(request)
            return judged(listed.case, report, time.monotonic() - started)
    except TimeoutError:
        return unjudged(listed.case, f"no verdict after {_LIMIT_SECONDS:.0f} s", time.monotonic() - started)
    except (FetchError, PhaseRunnerError, OSError) as error:
        return unjudged(listed.case, str(error), time.monotonic() - started)


@asynccontextmanager
async def _with_project_file(
    listed: Listed, histories: Path, place: Path, modules: Path | None
) -> AsyncGenerator[Workspace]:
    """Lay out a commit whose base has a `phaserunner.toml` beside what it has anyway."""
    async with laid_out(listed.case, histories, place / "archives") as found:
        files = {**listed.files, PROJECT_FILE: _project_file(listed, modules)}
        await asyncio.to_thread(_write, found.path, files)
        env = {"GIT_INDEX_FILE": str(found.path.parent / "index")}
        await _git(found.path, "read-tree", found.base, **env)
        await _git(found.path, "add", "-f", *files, **env)
        tree = await _git(found.path, "write-tree", **env)
        author = ("-c", "user.name=base", "-c", "user.email=base@example.invalid")
        base = await _git(found.path, *author, "commit-tree", "-p", found.base, "-m", "Base", tree)
        yield Workspace(found.path, base, found.goal)


def _write(tree: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def _project_file(listed: Listed, modules: Path | None) -> str:
    commands = "".join(
        f'[[command]]\nname = "{each.replace("-", "_")}"\npreset = "{each}"\ntimeout = 600\n'
        for each in listed.presets
    )
    if listed.language not in _WITH_MODULES or modules is None:
        return f"{_NO_PYTHON}{commands}"
    own = modules / listed.case.project
    setup = f"cp -a {(own if own.is_dir() else modules) / 'node_modules'} node_modules"
    return f'{_NO_PYTHON}{commands}[environment]\nsetup = ["{setup}"]\n'


async def _git(tree: Path, *arguments: str, **env: str) -> str:
    done = await anyio.run_process(["git", *arguments], cwd=tree, env={**os.environ, **env}, check=False)
    if done.returncode:
        raise FetchError(f"git {arguments[0]}: {done.stderr.decode('utf-8', 'replace')[-300:]}")
    return done.stdout.decode().strip()


def table(results: Sequence[JudgedCase], listed: Sequence[Listed]) -> str:
    """Return the shares of each language, with intervals of 95 %."""
    by_name = {each.case: each for each in results}
    lines = [
        TITLE,
        machine(),
        "",
        "| Language | Outcome | Count | Share | 95 % interval |",
        "|---|---|---:|---:|---|",
    ]
    for language in dict.fromkeys(each.language for each in listed):
        of_it = [
            by_name[each.case.name]
            for each in listed
            if each.language == language and each.case.name in by_name
        ]
        if not of_it:
            continue
        for outcome in Outcome:
            count = sum(each.outcome is outcome for each in of_it)
            low, high = wilson(count, len(of_it))
            share = 100 * count / len(of_it)
            lines.append(
                f"| {language} | {outcome} | {count} of {len(of_it)} | {share:.1f} % "
                f"| {100 * low:.1f} - {100 * high:.1f} % |"
            )
    lines += ["", "| Case | Outcome | Reason |", "|---|---|---|"]
    for each in results:
        if each.outcome is not Outcome.PASSED:
            reason = " ".join(each.reason.split()).replace("|", "\\|")[:160]
            lines.append(f"| `{each.case}` | {each.outcome} | {reason} |")
    return "\n".join(lines)


def main() -> None:
    """Judge the list, and print the table of all that `place` holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_languages", description=TITLE)
    parser.add_argument("place", type=Path, help="directory for results; with the same one a run goes on")
    parser.add_argument("--histories", type=Path, required=True, help="clones, each named as its project")
    parser.add_argument(
        "--modules",
        type=Path,
        help="directory whose node_modules holds the test runners, or one such directory for each project",
    )
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a project or a language")
    arguments = parser.parse_args()
    every = read_list(LIST.read_text("utf-8"))
    only: list[str] = arguments.only
    listed = [each for each in every if not only or {each.case.project, each.language} & set(only)]
    place: Path = arguments.place.absolute()
    place.mkdir(parents=True, exist_ok=True)
    modules: Path | None = arguments.modules
    asyncio.run(judge_all(listed, place, arguments.histories.absolute(), modules and modules.absolute()))
    print(table(read_results(place / "results.jsonl"), every))


if __name__ == "__main__":
    main()
