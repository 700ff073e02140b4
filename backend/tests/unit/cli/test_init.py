"""`init`: gates that ran at the base, and what becomes of red, flaky and broken ones."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.cli.exits import ExitCode
from app.runners.evaluators.project.project_file import read_project_file
from app.services.local.gate_candidates import project_of
from tests.unit.cli.fakes import FakeService, Outcome, invoke
from tests.unit.cli.reports import FakeJudging, report, result
from tests.unit.cli.test_hooks import git

PACKAGE = json.dumps({"scripts": {"test": "node --test", "lint": "eslint ."}})
AVA = json.dumps({"scripts": {"test": "ava", "lint": "xo"}})
VITEST = json.dumps({"scripts": {"test": "vitest run"}})
FILES = {"a.py": "a = 1\n", "package.json": PACKAGE, "web/b.ts": "1\n", "web/c.rb": "1\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Start")
    return project


def runs(*statuses: dict[str, str]) -> FakeJudging:
    """Three runs, each with the status of every evaluator."""
    return FakeJudging(
        [
            report("passed", *((result(name, status), True) for name, status in each.items()))
            for each in statuses
        ]
    )


GREEN = dict.fromkeys(("ruff_lint", "pytest", "type_check", "node_test", "eslint"), "passed")


def run_init(project: Path, judging: FakeJudging, *options: str) -> Outcome:
    return invoke(FakeService(), "init", str(project), *options, cwd=project.parent, judging=judging)


def written(project: Path) -> dict[str, Any]:
    content = (project / "phaserunner.toml").read_bytes()
    read_project_file(content)
    return tomllib.loads(content.decode())


def test_what_ran_is_written_and_told_in_five_lines(project: Path) -> None:
    judging = runs(GREEN)
    done = run_init(project, judging)
    assert done.code == ExitCode.PASSED
    assert done.out.splitlines() == [
        "Languages: Python (1 files), TypeScript (1 files), Ruby (1 files)",
        "Gates: ruff_lint (1.5 s), pytest (1.5 s), type_check (1.5 s), node_test (1.5 s), eslint (1.5 s)",
        "Only advise: none",
        "Not judged: Ruby (no gate is known)",
        "Commit phaserunner.toml: it counts for changes that have it at their base.",
    ]
    assert len(judging.requests) == 3
    assert judging.requests[0].path != str(project)
    assert [each["name"] for each in written(project)["command"]] == ["node_test", "eslint"]


def test_red_flaky_and_broken_gates_do_not_decide(project: Path) -> None:
    bad = {"pytest": "failed", "type_check": "errored", "node_test": "failed"}
    run_init(project, runs(GREEN | bad, GREEN | bad, GREEN | bad | {"eslint": "failed"}))
    document = written(project)
    # What the base has does not count against a change, so a red built-in evaluator still decides.
    assert document["evaluators"] == {"type_check": {"enabled": False}}
    assert {each["name"]: each.get("gate", True) for each in document["command"]} == {
        "node_test": False,
        "eslint": False,
    }
    text = (project / "phaserunner.toml").read_text()
    assert "# pytest: 1.5 s at the base; red at the base: pytest failed" in text
    assert "# eslint: 1.5 s at the base; flaky at the base in 3 runs" in text


def test_a_command_without_a_verdict_is_left_out(project: Path) -> None:
    done = run_init(project, runs(GREEN | {"node_test": "errored", "eslint": "errored"}))
    assert "command" not in written(project)
    assert "node_test (no verdict at the base: node_test errored)" in done.out


def test_check_says_what_changed_and_writes_nothing(project: Path) -> None:
    run_init(project, runs(GREEN))
    before = (project / "phaserunner.toml").read_text()
    assert run_init(project, runs(GREEN), "--check").out == "phaserunner.toml still fits\n"
    done = run_init(project, runs(GREEN | {"node_test": "failed"}), "--check")
    assert done.code == ExitCode.FAILED
    assert "node_test: the file says gate, the base says advises (red at the base" in done.out
    assert (project / "phaserunner.toml").read_text() == before


def test_an_existing_file_is_replaced_only_by_force(project: Path) -> None:
    (project / "phaserunner.toml").write_text("mine")
    done = run_init(project, runs(GREEN))
    assert (done.code, (project / "phaserunner.toml").read_text()) == (ExitCode.USAGE, "mine")
    assert "--force" in done.err
    assert run_init(project, runs(GREEN), "--force").code == ExitCode.PASSED


@pytest.mark.parametrize(
    ("options", "place", "told"),
    [
        (["--check"], "project", "there is no"),
        ([], "none", "is not a directory"),
        ([], "empty", "not in a git repository with a commit"),
    ],
)
def test_what_cannot_be_tried_is_named(project: Path, options: list[str], place: str, told: str) -> None:
    (project.parent / "empty").mkdir()
    done = run_init(project.parent / place, runs(GREEN), *options)
    assert (done.code, told in done.err) == (ExitCode.USAGE, True), done.err


def test_check_names_a_file_that_is_not_toml(project: Path) -> None:
    (project / "phaserunner.toml").write_text("[[[")
    assert "is not TOML" in run_init(project, runs(GREEN), "--check").err


@pytest.mark.parametrize(
    ("files", "texts", "names"),
    [
        ([], {}, []),
        (["package.json"], {"package.json": "{"}, []),
        (["package.json"], {"package.json": '{"scripts": []}'}, []),
        (["package.json"], {"package.json": '{"scripts": {"test": "echo no test specified"}}'}, []),
        (["go.mod", "a.go"], {}, ["go_test", "go_vet"]),
        (["Cargo.toml", "src/a.rs"], {}, ["cargo_test", "clippy"]),
        (["pom.xml", "A.java"], {}, ["maven"]),
        (
            ["package.json"],
            {"package.json": AVA},
            ["npm_test", "npm_lint"],
        ),
        (
            ["package.json", "tsconfig.json"],
            {"package.json": VITEST},
            ["vitest", "tsc"],
        ),
        (["core/go.mod", "core/a.go", "core/testdata/x/go.mod"], {}, ["go_test_core", "go_vet_core"]),
        (["a-b/go.mod", "a_b/go.mod"], {}, ["go_test_a_b", "go_vet_a_b", "go_test_a_b_2", "go_vet_a_b_2"]),
        (
            ["Cargo.toml", "one/Cargo.toml"],
            {"Cargo.toml": '[workspace]\nmembers = ["one"]\n'},
            ["cargo_test", "clippy"],
        ),
        (
            ["package.json", "web/package.json"],
            {
                "package.json": '{"workspaces": ["web"], "scripts": {"test": "vitest"}}',
                "web/package.json": VITEST,
            },
            ["vitest"],
        ),
        (
            ["package.json", "web/package.json", "web/node_modules/a/package.json"],
            {
                "package.json": '{"workspaces": ["web"]}',
                "web/package.json": VITEST,
                "web/node_modules/a/package.json": VITEST,
            },
            ["vitest_web"],
        ),
        (["one/pom.xml", "one/two/pom.xml"], {}, ["maven_one"]),
        (["Makefile", "a.c"], {"Makefile": "all:\n\ntest: all\n"}, ["make_test"]),
    ],
)
def test_candidates_follow_from_the_files(files: list[str], texts: dict[str, str], names: list[str]) -> None:
    assert [each.name for each in project_of(files, texts).candidates] == names


@pytest.mark.parametrize(
    ("files", "texts", "places"),
    [
        (["api/pyproject.toml", "api/a.py", "jobs/setup.py", "api/sub/setup.py"], {}, ("api", "jobs")),
        (["pyproject.toml", "api/pyproject.toml", "api/a.py"], {"pyproject.toml": "[tool.ruff]\n"}, ("api",)),
        (["pyproject.toml", "api/pyproject.toml", "api/a.py"], {"pyproject.toml": "[project]\n"}, ()),
        (["tests/test_a.py", "api/pyproject.toml", "api/a.py"], {}, ()),
        (["api/pyproject.toml", "b/a.py"], {}, ()),
    ],
)
def test_python_below_the_root_is_judged_there(
    files: list[str], texts: dict[str, str], places: tuple[str, ...]
) -> None:
    found = {each.name: each.directories for each in project_of(files, texts).candidates}
    assert found == {"ruff_lint": (), "pytest": places, "type_check": places}


def test_more_gates_than_the_file_holds_are_told() -> None:
    found = project_of([f"p{number:02}/go.mod" for number in range(20)], {})
    assert (len(found.candidates), found.beyond[0], len(found.beyond)) == (32, "go_test_p16", 8)


def test_check_says_where_a_gate_has_moved(project: Path) -> None:
    run_init(project, runs(GREEN))
    file = project / "phaserunner.toml"
    file.write_text(
        file.read_text().replace('preset = "eslint"', 'preset = "eslint"\nworking_directory = "ui"')
    )
    done = run_init(project, runs(GREEN), "--check")
    assert done.out == "eslint: the file says ui, the base has it in the root\n"


def test_a_preset_is_written_by_its_name(project: Path) -> None:
    run_init(project, runs(GREEN))
    commands = written(project)["command"]
    assert [each["preset"] for each in commands] == ["node-test", "eslint"]
    assert all("run" not in each for each in commands)
