"""What nox sessions that run pytest install is read from the text of a noxfile."""

from pathlib import Path

import pytest

from app.workspaces.environments.nox import nox_requirements

SESSIONS = """
import nox

COMMON = ["beta[fast]==1.0", "./local", "https://example.org/x.zip"]


@nox.session(python=["3.11"])
def test(session):
    deps = ["pytest>=7", "alpha"]
    session.install("--upgrade", *deps)
    session.install(*COMMON, "-r", "more.txt", "gamma", f"delta=={session.name}")
    session.install("-e", ".")
    session.run("pytest", *session.posargs)


@nox.session
def docs(session):
    session.install("omega")
    session.run("mkdocs", "build")


def helper(session):
    session.install("omega")
    session.run("pytest")
"""


def test_sessions_that_run_pytest_count(tmp_path: Path) -> None:
    (tmp_path / "noxfile.py").write_text(SESSIONS)
    assert nox_requirements(tmp_path) == ["pytest>=7", "alpha", "beta[fast]==1.0", "gamma"]


def test_a_function_that_a_session_calls_is_part_of_it(tmp_path: Path) -> None:
    called = """
@nox.session
def unit(session, legacy=False):
    if legacy:
        session.install("old<5")
    run_tests(session, legacy)


def run_tests(session, legacy):
    command = ["python", "-m", "pytest", *(session.posargs or ["--quiet"])]
    session.install("pytest-asyncio")
    session.run(*command)
"""
    (tmp_path / "noxfile.py").write_text(SESSIONS + called)
    found = nox_requirements(tmp_path)
    assert found == ["pytest>=7", "alpha", "beta[fast]==1.0", "gamma", "pytest-asyncio"]


def test_a_session_that_runs_tests_with_another_program_counts(tmp_path: Path) -> None:
    session = """
@nox.session
def tests(session):
    session.install("jsonpath-ng", session.name)
    session.run("coverage", "run", *session.posargs, "-m", "virtue", "demo")
"""
    (tmp_path / "noxfile.py").write_text(session)
    assert nox_requirements(tmp_path) == ["jsonpath-ng"]


@pytest.mark.parametrize("text", ["", "def (:\n", "import nox\n", "x = [1, 2]\n"])
def test_a_file_without_sessions_names_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "noxfile.py").write_text(text)
    assert nox_requirements(tmp_path) == []


def test_without_a_file_nothing_is_named(tmp_path: Path) -> None:
    assert nox_requirements(tmp_path) == []
