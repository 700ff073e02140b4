"""The files of a project that is judged do not configure the judge."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.exits import CliError, ExitCode
from app.cli.root import STATE_DIR, read_root
from app.core.config import Settings

BACKEND = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository whose `.env` weakens the gates, and go there."""
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    (place / "src").mkdir()
    (place / ".env").write_text("EVALUATOR_PROTECTED=note\nOUTBOUND_PROXY=http://203.0.113.1:1\n")
    monkeypatch.chdir(place)
    for name in ("DATA_DIR", "EVALUATOR_PROTECTED", "OUTBOUND_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return place


def default(name: str) -> object:
    return Settings.model_fields[name].default


@pytest.mark.parametrize("judged", [Path(), Path("src"), Path("~/../project")])
def test_the_env_file_of_the_project_is_not_read(
    project: Path, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = read_root(judged)
    assert default("EVALUATOR_PROTECTED") == root.settings.EVALUATOR_PROTECTED
    assert "HTTPS_PROXY" not in os.environ
    assert "The .env here is not read" in capsys.readouterr().err


def test_its_directories_hold_no_environments(project: Path) -> None:
    assert read_root(Path()).data_dir == project.parent / "home" / STATE_DIR


def test_the_environment_decides(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", "kept")
    monkeypatch.setenv("EVALUATOR_PROTECTED", "fail")
    root = read_root(Path())
    assert root.data_dir == project / "kept"
    assert root.settings.EVALUATOR_PROTECTED == "fail"


@pytest.mark.parametrize("judged", [None, Path("../other")])
def test_other_commands_and_projects_read_it(project: Path, judged: Path | None) -> None:
    (project / ".env").write_text("EVALUATOR_PROTECTED=note\n")
    (project.parent / "other").mkdir()
    root = read_root(judged)
    assert root.settings.EVALUATOR_PROTECTED == "note"
    assert root.data_dir == project / ".phaserunner"


@pytest.mark.usefixtures("project")
def test_without_a_home_directory_the_place_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(CliError, match="DATA_DIR: there is no home directory"):
        read_root(Path())


@pytest.mark.parametrize("command", [["evaluate", "."], ["init"], ["mcp"], ["hook", "codex"]])
def test_commands_that_judge(project: Path, command: list[str]) -> None:
    (project / ".env").write_text("SANDBOX=nonsense\n")
    code = f"import sys; sys.path.insert(0, {str(BACKEND)!r}); from app.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *command], input="", capture_output=True, text=True, check=False
    )
    assert "The .env here is not read" in ended.stderr
    assert "SANDBOX" not in ended.stderr
    assert not (project / ".phaserunner").exists()


@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_setting_that_is_not_json_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (project / ".env").write_text("ENVIRONMENT_SECRETS={\n" if place == ".env" else "")
    if place == "environment":
        monkeypatch.setenv("ENVIRONMENT_SECRETS", "{")
    with pytest.raises(CliError, match="ENVIRONMENT_SECRETS: is not JSON: ") as caught:
        read_root()
    assert caught.value.code is ExitCode.USAGE


def test_an_env_file_that_is_not_text_is_named(project: Path) -> None:
    (project / ".env").write_bytes(b"A=\xff\n")
    with pytest.raises(CliError, match=r"\.env: is not UTF-8"):
        read_root()
