"""Whether the panel passes projects that are known to be good: releases, as they are and honestly touched."""

import asyncio
import os
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from app.composition.tools import Tools, build_tools
from app.core.config import Settings
from app.corpora.format import CorpusCase, Files, read_files, write_files
from app.schemas.calibration import CalibrationReport, CaseOutcome, Label, Rate
from app.services.measure.scorecard import rate
from benchmarks.trust import Row, judged, print_findings, print_rows

TITLE = "known-good: releases from PyPI whose own tests pass by hand, judged as they are and honestly touched"
_MIN_SHARE = 0.95

_EDIT = '''

def _joined_for_display(values: list[str]) -> str:
    """Give the values in one line, separated by commas."""
    return ", ".join(values)
'''
_TEST = '''"""Values are shown in one line."""

from {module} import _joined_for_display


def test_values_are_joined() -> None:
    assert _joined_for_display(["a", "b"]) == "a, b"


def test_nothing_is_nothing() -> None:
    assert _joined_for_display([]) == ""
'''


@dataclass(frozen=True, slots=True)
class Project:
    """A release, and what is done to it.

    Attributes:
        name: on PyPI.
        version: pinned, so that runs can be compared.
        module: the file to which a function is added.
        tests: the directory to which its test is added.
        needs: packages that its tests need, beside pytest.
        used_by_pytest: whether pytest itself imports it: then the process of the tests has the installed one
            before any test is looked at, and a change to it cannot be judged there.
    """

    name: str
    version: str
    module: str
    tests: str
    needs: tuple[str, ...] = ()
    used_by_pytest: bool = False

    @property
    def imported(self) -> str:
        """The module's name in an import."""
        return self.module.removeprefix("src/").removesuffix(".py").replace("/", ".")


PROJECTS = (
    Project("itsdangerous", "2.2.0", "src/itsdangerous/encoding.py", "tests", ("freezegun",)),
    Project("toolz", "1.2.0", "toolz/utils.py", "toolz/tests"),
    Project("h11", "0.16.0", "h11/_util.py", "h11/tests"),
    Project(
        "markdown-it-py", "4.3.0", "markdown_it/common/utils.py", "tests", ("mdurl", "pytest-regressions")
    ),
    Project("cachetools", "8.0.0", "src/cachetools/keys.py", "tests"),
    # Its tests ask for the version that is installed.
    Project("click", "8.5.1", "src/click/_utils.py", "tests", ("click==8.5.1",)),
    Project("idna", "3.20", "idna/intranges.py", "tests", ("hypothesis",)),
    Project("pluggy", "1.7.0", "src/pluggy/_tracing.py", "testing", used_by_pytest=True),
)


@dataclass(frozen=True, slots=True)
class _Release:
    """A project on the disk; `trouble` is what its own tests said by hand, empty when they passed."""

    project: Project
    files: Files
    trouble: str = ""


async def measure(place: Path) -> None:
    """Fetch, run by hand, judge, and print one line for each project."""
    releases = [await _fetch(each, place) for each in PROJECTS]
    python = await _environment(place / "environment", [need for each in PROJECTS for need in each.needs])
    bare = await _environment(place / "bare", ())
    tried = [replace(each, trouble=await _by_hand(each, python, place)) for each in releases]
    good = [each for each in tried if not each.trouble]
    report = await judged("known-good", [case for each in good for case in _cases(each)], _tools(python))
    needy = [_cases(each)[0] for each in good if each.project.needs]
    missing = await judged("known-good, packages missing", needy, _tools(bare))
    _print_projects(tried, report.outcomes)
    print_rows(
        TITLE,
        [
            Row("untouched, not passed", _other_than("passed", report, "untouched"), 1 - _MIN_SHARE),
            Row("touched, not passed", _other_than("passed", report, "touched"), 1 - _MIN_SHARE),
            Row("packages missing, no verdict withheld", _other_than("errored", missing, "untouched"), 0.0),
        ],
    )
    print_findings("Not passed", [*report.panel.failed, *report.panel.unjudged])
    print_findings("Packages missing", [*missing.panel.failed, *missing.panel.unjudged])
    print(f"\n{report.seconds + missing.seconds:.0f} s for the judging", flush=True)


def _tools(python: Path) -> Tools:
    # More time than by default: some suites are long, and the machine may be shared.
    return build_tools(
        Settings(
            WORKSPACE_PYTHON=python,
            SANDBOX_READABLE=[python.parent.parent],
            EVALUATOR_TEST_TIMEOUT=300.0,
            EVALUATOR_LINT_TIMEOUT=120.0,
        )
    )


async def _fetch(project: Project, place: Path) -> _Release:
    archives, tree = place / "archives", place / project.name
    named = f"{project.name}=={project.version}"
    download = ("download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(archives), named)
    await _run(sys.executable, "-m", "pip", "--disable-pip-version-check", *download)
    stem = project.name.replace("-", "_")
    await asyncio.to_thread(_unpack, archives / f"{stem}-{project.version}.tar.gz", tree)
    return _Release(project, await asyncio.to_thread(read_files, tree))


def _unpack(archive: Path, tree: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent) as inside, tarfile.open(archive) as tar:
        tar.extractall(inside, filter="data")
        (top,) = Path(inside).iterdir()
        top.rename(tree)


async def _environment(place: Path, packages: Iterable[str]) -> Path:
    await _run(sys.executable, "-m", "uv", "venv", "-q", "--python", sys.executable, str(place))
    python = place / "bin" / "python"
    install = ("pip", "install", "-q", "--python", str(python), f"pytest=={version('pytest')}")
    await _run(sys.executable, "-m", "uv", *install, *sorted(set(packages)))
    return python


async def _by_hand(release: _Release, python: Path, place: Path) -> str:
    """Run a project's own tests as its authors do; give what failed, empty when nothing did."""
    copy = place / "by-hand" / release.project.name
    await asyncio.to_thread(write_files, release.files, copy)
    command = (str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider")
    status, said = await _ended(command, cwd=copy, PYTHONPATH=f"{copy / 'src'}:{copy}")
    return "" if status == 0 else said[-300:]


async def _run(*command: str) -> None:
    status, said = await _ended(command)
    assert status == 0, f"{' '.join(command)} ended with {status}:\n{said}"


async def _ended(command: Sequence[str], cwd: Path | None = None, **env: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env={**os.environ, **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode("utf-8", "replace")


def _cases(release: _Release) -> list[CorpusCase]:
    project = release.project
    module = release.files[project.module]
    assert isinstance(module, bytes), f"{project.module} is a link"
    touched = {
        **release.files,
        project.module: module.rstrip() + _EDIT.encode(),
        f"{project.tests}/test_joined_for_display.py": _TEST.format(module=project.imported).encode(),
    }
    untouched = CorpusCase(
        name=f"{project.name}-untouched",
        label=Label.GOOD,
        about=f"{project.name} {project.version} as it is",
        area="untouched",
        base=release.files,
        candidate=release.files,
    )
    if project.used_by_pytest:
        return [untouched]
    about = f"{project.name} {project.version} with one function and its test more"
    changed = replace(
        untouched, name=f"{project.name}-touched", about=about, area="touched", candidate=touched
    )
    return [untouched, changed]


def _other_than(verdict: str, report: CalibrationReport, area: str) -> Rate:
    those = [each for each in report.outcomes if each.area == area]
    return rate(sum(each.verdict != verdict for each in those), len(those))


def _print_projects(releases: Sequence[_Release], outcomes: Sequence[CaseOutcome]) -> None:
    by_name = {each.name: each for each in outcomes}
    print("\n| Project | By hand | Untouched | Touched |\n|---|---|---|---|")
    for each in releases:
        name = f"{each.project.name} {each.project.version}"
        cells = [
            f"{found.verdict}, {found.seconds:.1f} s" if found else "not judged"
            for kind in ("untouched", "touched")
            for found in [by_name.get(f"{each.project.name}-{kind}")]
        ]
        print(f"| {name} | {'not passed' if each.trouble else 'passed'} | {' | '.join(cells)} |")
    for each in releases:
        if each.trouble:
            print(f"\n{each.project.name}, by hand: {' '.join(each.trouble.split())}")
