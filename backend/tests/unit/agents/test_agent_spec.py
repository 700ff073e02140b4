"""What users may ask for, and scripts in files."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.agents.scripted.script_file import load_script, parse_script
from app.core.errors import InvalidInputError
from app.schemas.agent_script import AgentScript
from app.schemas.agents import AgentBackend, AgentSpec, agent_label
from app.schemas.runs import Phase

STEP = {"say": "Coding Complete"}
SCRIPT = {"title": "A script", "phases": {"coding": [STEP]}}


def edit(**fields: Any) -> dict[str, Any]:
    return {
        "title": "t",
        "phases": {"coding": [{"say": "x", "edits": [{"kind": "write", "content": "", **fields}]}]},
    }


def test_nothing_said_is_one_agent_of_the_services_choice() -> None:
    assert AgentSpec() == AgentSpec(backend=AgentBackend.AUTO, candidates=1)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        pytest.param({"backend": "scripted"}, "script", id="a script backend without a script"),
        pytest.param({"script": SCRIPT}, "script", id="a script for another backend"),
        pytest.param(
            {"backend": "scripted", "script": SCRIPT, "model": "a:b"}, "model", id="a model for a script"
        ),
        pytest.param({"model": "gpt-5"}, "model", id="a model without a provider"),
        pytest.param({"model": "openai:gpt 5"}, "model", id="a model with a space"),
        pytest.param({"model": "openai:a\n"}, "model", id="a model with a line end"),
        pytest.param({"candidates": 0}, "candidates", id="no candidate"),
        pytest.param({"candidates": 9}, "candidates", id="too many candidates"),
        pytest.param({"candidates": []}, "candidates", id="no candidate in the list"),
        pytest.param({"candidates": [{"agent": "codex"}] * 9}, "candidates", id="too long a list"),
        pytest.param({"candidates": [{"agent": "Codex!"}]}, "agent", id="no name of an agent"),
        pytest.param(
            {"candidates": [{"agent": "scripted"}]}, "a script cannot work beside", id="a script in the list"
        ),
        pytest.param(
            {"candidates": [{"agent": "pydantic-ai", "model": "gpt-5"}]},
            "provider:model",
            id="a candidate's model without a provider",
        ),
        pytest.param(
            {"backend": "codex", "candidates": [{"agent": "opencode"}]},
            "must be absent",
            id="a list and more",
        ),
        pytest.param({"temperature": float("nan")}, "temperature", id="a temperature that is no number"),
        pytest.param({"system_prompt": "a\0b"}, "system_prompt", id="a control character"),
        pytest.param({"sytem_prompt": "x"}, "sytem_prompt", id="a misspelt field"),
    ],
)
def test_refuses_with_the_field_named(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        AgentSpec.model_validate(fields)


def test_candidates_are_specs_of_their_own() -> None:
    asked = [{"agent": "opencode"}, {"agent": "codex", "model": "gpt-5"}]
    spec = AgentSpec.model_validate({"candidates": asked, "temperature": 0.5})
    assert [(each.backend, each.model, each.temperature) for each in spec.each()] == [
        ("opencode", None, 0.5),
        ("codex", "gpt-5", 0.5),
    ]
    assert agent_label(spec) == "opencode, codex gpt-5"
    assert AgentSpec(candidates=2).each() == [AgentSpec(), AgentSpec()]


def test_an_installed_agent_takes_the_name_of_a_model_alone() -> None:
    assert AgentSpec.model_validate({"backend": "codex", "model": "gpt-5"}).model == "gpt-5"


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../up",
        "a/../../b",
        "",
        ".",
        "a\\b",
        ".git/hooks/post-commit",
        "sub/.GIT/config",
        "a\0b",
        "a\nb",
    ],
)
def test_refuses_paths_that_leave_the_workspace(path: str) -> None:
    with pytest.raises(ValidationError, match="path"):
        AgentScript.model_validate(edit(path=path))


@pytest.mark.parametrize("pause", [-0.1, 5.1, float("inf"), float("nan")])
def test_pauses_are_bounded(pause: float) -> None:
    with pytest.raises(ValidationError, match="pause_seconds"):
        AgentScript.model_validate(edit(path="a", pause_seconds=pause))


def test_a_whole_script_is_bounded() -> None:
    step = {"say": "x", "edits": [{"kind": "write", "path": "a", "content": "x" * 400_000}]}
    with pytest.raises(ValidationError, match="at most 2000000 characters"):
        AgentScript.model_validate({"title": "t", "phases": {"coding": [step] * 6}})


def test_attempt_n_plays_step_n_and_the_last_one_repeats() -> None:
    script = AgentScript.model_validate(
        {"title": "t", "phases": {"coding": [{"say": "one"}, {"say": "two"}]}}
    )
    said = [step.say for attempt in (1, 2, 3, 9) if (step := script.step(Phase.CODING, attempt, ""))]
    assert said == ["one", "two", "two", "two"]
    assert script.step("verification", 1, "") is None


def test_reads_a_script_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "a script.toml"
    file.write_text(
        "title = 'Mend'\n[[phases.coding]]\nsay = 'Done'\nexpects = ['F401']\n"
        "[[phases.coding.edits]]\nkind = 'replace'\npath = 'a.py'\nold = 'x'\nnew = ''\n"
    )
    (step,) = load_script(file).phases[Phase.CODING]
    assert step.expects == ["F401"]
    assert step.edits[0].kind == "replace"


@pytest.mark.parametrize(
    ("text", "told", "field"),
    [
        pytest.param("title = 'x'\n[[phases.coding]\n", "line 2", "script", id="a broken line"),
        pytest.param("title = 'x'\n", "phases", "phases", id="no phase"),
        pytest.param("title = 'x'\n[phases]\ncodng = [{say = 'x'}]\n", "codng", None, id="a misspelt phase"),
        pytest.param(
            "title = 'x'\n[[phases.coding]]\nsay = 'x'\n[[phases.coding.edits]]\nkind = 'write'\n"
            "path = '../x'\ncontent = ''\n",
            "must not contain '..'",
            "phases.coding[0].edits[0].path",
            id="a path out of the workspace",
        ),
        pytest.param(
            "title = 'x'\n[[phases.coding]]\nsay = 'x'\n[[phases.coding.edits]]\nkind = 'move'\n",
            "'write', 'replace', 'delete'",
            "phases.coding[0].edits[0]",
            id="an unknown edit",
        ),
        pytest.param(
            "title = 'x'\nphases = {coding = []}\n", "at least 1 item", "phases.coding", id="no step"
        ),
        pytest.param("x = " + "[" * 5_000, "script.toml: ", "script", id="nested without end"),
    ],
)
def test_errors_name_the_line_or_the_field(text: str, told: str, field: str | None) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        parse_script(text, "script.toml")
    assert told in refusal.value.detail
    assert "script.toml" in refusal.value.detail
    assert field in (None, refusal.value.field)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(lambda path: None, "cannot be read", id="missing"),
        pytest.param(lambda path: path.mkdir(), "cannot be read", id="a directory"),
        pytest.param(lambda path: path.write_bytes(b"title = '\xff'"), "not UTF-8 at byte 9", id="not UTF-8"),
        pytest.param(lambda path: path.write_bytes(b"#" * 8_000_001), "larger than", id="too large"),
    ],
)
def test_unreadable_files_are_said_so(make: Any, told: str, tmp_path: Path) -> None:
    make(tmp_path / "s.toml")
    with pytest.raises(InvalidInputError, match=told):
        load_script(tmp_path / "s.toml")
