"""Settings: defaults that are fixed, bad values that are refused, and `.env.example` in step."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.core.config import Settings
from app.schemas.modes import CandidateDependencies

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*Settings.model_fields, "EVALUATOR_MAX_RETRIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def example_lines() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_the_example_names_every_setting_and_no_other() -> None:
    assert set(example_lines()) == set(Settings.model_fields)


def test_the_example_holds_the_defaults() -> None:
    assert Settings(_env_file=ROOT / ".env.example") == Settings()


def test_documented_defaults() -> None:
    settings = Settings()
    assert settings.EVALUATOR_MODEL == "anthropic:claude-sonnet-4-20250514"
    assert settings.MAX_ATTEMPTS == settings.EVALUATOR_MAX_RETRIES == 3
    assert settings.EVALUATOR_RUN_DETERMINISTIC_ONLY is False
    assert (settings.EVALUATOR_LINT_TIMEOUT, settings.EVALUATOR_TEST_TIMEOUT) == (30, 120)
    assert (settings.EVALUATOR_TYPE_CHECK_TIMEOUT, settings.EVALUATOR_LLM_TIMEOUT) == (120, 60)
    assert (settings.EVALUATOR_PASS_THRESHOLD, settings.EVALUATOR_BLOCKING_THRESHOLD) == (0.7, 0.5)


@pytest.mark.parametrize("name", ["MAX_ATTEMPTS", "EVALUATOR_MAX_RETRIES"])
def test_attempts_have_two_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings.model_validate({name: 7})
    monkeypatch.setenv(name, "7")
    for settings in (given, Settings()):
        assert settings.MAX_ATTEMPTS == settings.EVALUATOR_MAX_RETRIES == 7


def test_the_environment_wins_over_the_file_by_either_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("MAX_ATTEMPTS=3\n")
    monkeypatch.setenv("EVALUATOR_MAX_RETRIES", "7")
    assert Settings().MAX_ATTEMPTS == 7
    monkeypatch.setenv("MAX_ATTEMPTS", "5")
    assert Settings().MAX_ATTEMPTS == 5


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "runner.example, other.example")
    monkeypatch.setenv("WORKSPACE_ROOTS", "/srv/a,/srv/b c")
    settings = Settings()
    assert settings.ALLOWED_HOSTS == ["runner.example", "other.example"]
    assert [Path("/srv/a"), Path("/srv/b c")] == settings.WORKSPACE_ROOTS


BAD = {
    "negative timeout": ("EVALUATOR_TEST_TIMEOUT", "-1"),
    "threshold above one": ("EVALUATOR_PASS_THRESHOLD", "1.5"),
    "not a number": ("EVALUATOR_MAX_RETRIES", "three"),
    "zero attempts": ("EVALUATOR_MAX_RETRIES", "0"),
    "zero attempts by the present name": ("MAX_ATTEMPTS", "0"),
    "unknown backend": ("AGENT_BACKEND", "no name"),
    "share above the most": ("SPRINT_HELD_OUT_SHARE", "1.5"),
    "share below zero": ("SPRINT_HELD_OUT_SHARE", "-0.1"),
    "share as a word": ("SPRINT_HELD_OUT_SHARE", "abc"),
    "share as a switch": ("SPRINT_HELD_OUT_SHARE", "true"),
    "share that is no number": ("SPRINT_HELD_OUT_SHARE", "nan"),
    "share as a table": ("SPRINT_HELD_OUT_SHARE", '{"share": 0.3}'),
    "port out of range": ("PORT", "70000"),
}


@pytest.mark.parametrize(("name", "value"), BAD.values(), ids=BAD.keys())
def test_a_bad_value_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=name):
        Settings()


@pytest.mark.parametrize(("text", "share"), [("0.3", 0.3), ("0", 0.0), ("", 0.0), ("0.8", 0.8)])
def test_a_share_for_all_sprints(text: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPRINT_HELD_OUT_SHARE", text)
    assert share == Settings().SPRINT_HELD_OUT_SHARE


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("ask", CandidateDependencies.ASK),
        ("true", CandidateDependencies.INSTALL),
        ("False", CandidateDependencies.REFUSE),
    ],
)
def test_the_former_switch_for_dependencies_still_works(
    text: str, meaning: CandidateDependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVIRONMENT_CANDIDATE_DEPENDENCIES", text)
    assert Settings().ENVIRONMENT_CANDIDATE_DEPENDENCIES is meaning


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in repr(Settings())
