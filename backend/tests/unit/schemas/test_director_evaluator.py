"""Definitions of loops: the documented format, its defaults, and refusals that name line and element."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xmlschema import XMLSchema10

from app.schemas.director_evaluator import (
    ContextManagement,
    DirectorEvaluatorLoop,
    LoopDefinitionError,
    RoleContext,
    SubtaskContext,
)
from app.schemas.loop.condition import MAX_CHARS, ask, check_condition
from app.schemas.loop.xml import MAX_BYTES

DOCS = Path(__file__).parents[4] / "docs"

FULL = """<?xml version="1.0"?>
<task type="director_evaluator_loop">
  <description>Refine {{topic}} until it holds</description>
  <inputs>
    <input name="topic">a stack</input>
    <input name="style"/>
  </inputs>
  <max_iterations>7</max_iterations>
  <context_management>
    <inherit_context>none</inherit_context>
    <accumulate_data>false</accumulate_data>
    <accumulation_format>full_output</accumulation_format>
    <fresh_context>disabled</fresh_context>
  </context_management>
  <file_paths>
    <path>src/stack.py</path>
  </file_paths>
  <director>
    <description>Write {{topic}}</description>
    <inputs>
      <input name="prompt" from="user_query"/>
      <input name="feedback" from="evaluation_feedback"/>
    </inputs>
    <model>anthropic:claude</model>
    <system_prompt>Be brief.</system_prompt>
  </director>
  <evaluator>
    <description>Judge it</description>
    <inputs>
      <input name="solution" from="director_result"/>
    </inputs>
    <context_management>
      <accumulate_data>true</accumulate_data>
    </context_management>
    <evaluators>
      <evaluator>ruff_lint</evaluator>
    </evaluators>
  </evaluator>
  <script_execution>
    <command>python check.py --style {{style}}</command>
    <timeout>60</timeout>
    <inputs>
      <input name="stdin" from="director_result"/>
    </inputs>
  </script_execution>
  <termination_condition>
    <condition>evaluation.success === true</condition>
  </termination_condition>
</task>
"""
SMALL = """<task type="director_evaluator_loop">
<description>d</description>
<director><description>x</description></director>
<evaluator><description>y</description></evaluator>
</task>"""


def test_the_documented_format() -> None:
    loop = DirectorEvaluatorLoop.from_xml(FULL)
    assert loop.max_iterations == 7
    assert [(each.name, each.value) for each in loop.inputs] == [("topic", "a stack"), ("style", None)]
    assert [(each.name, each.source) for each in loop.director.inputs] == [
        ("prompt", "user_query"),
        ("feedback", "evaluation_feedback"),
    ]
    assert loop.context_management == ContextManagement(
        inherit_context="none",
        accumulate_data=False,
        accumulation_format="full_output",
        fresh_context="disabled",
    )
    assert loop.file_paths == ("src/stack.py",)
    assert (loop.director.model, loop.director.system_prompt) == ("anthropic:claude", "Be brief.")
    assert loop.evaluator.evaluators == ("ruff_lint",)
    assert loop.evaluator.context_management.accumulate_data
    assert loop.script_execution is not None
    assert loop.script_execution.timeout == 60
    assert loop.termination_condition is not None
    assert loop.termination_condition.condition == "evaluation.success === true"


def test_json_of_the_same_model() -> None:
    loop = DirectorEvaluatorLoop.from_xml(FULL)
    assert DirectorEvaluatorLoop.from_json(loop.model_dump_json(by_alias=True)) == loop


def test_the_defaults() -> None:
    loop = DirectorEvaluatorLoop.from_xml(SMALL)
    assert loop.max_iterations == 5
    assert loop.script_execution is None
    assert loop.termination_condition is None
    assert loop.context_management.model_dump() == {
        "inherit_context": "none",
        "accumulate_data": True,
        "accumulation_format": "notes_only",
        "fresh_context": "enabled",
    }
    for role in (loop.director, loop.evaluator):
        assert role.context_management.model_dump() == {
            "inherit_context": "full",
            "accumulate_data": False,
            "accumulation_format": "notes_only",
            "fresh_context": "disabled",
        }
    assert SubtaskContext().model_dump() == {**ContextManagement().model_dump(), "accumulate_data": False}
    script = SMALL.replace("</task>", "<script_execution><command>c</command></script_execution></task>")
    assert DirectorEvaluatorLoop.from_xml(script).script_execution.timeout == 300  # type: ignore[union-attr]


@pytest.mark.parametrize("inherit", ["full", "subset"])
def test_fresh_context_stands_alone(inherit: str) -> None:
    for model in (ContextManagement, RoleContext, SubtaskContext):
        with pytest.raises(ValueError, match="requires inherit_context `none`"):
            model.model_validate({"inherit_context": inherit, "fresh_context": "enabled"})
        assert model.model_validate({"inherit_context": "none", "fresh_context": "enabled"})
        assert model.model_validate({"inherit_context": inherit, "fresh_context": "disabled"})


def changed(old: str, new: str) -> str:
    assert old in FULL
    return FULL.replace(old, new, 1)


CONDITION = "evaluation.success === true"


@pytest.mark.parametrize(
    ("text", "line", "element", "said"),
    [
        pytest.param("", 1, "", "no element", id="nothing"),
        pytest.param("<task", 1, "", "", id="not well formed"),
        pytest.param(
            changed("</director>", ""), 49, "task/director", "mismatched", id="a tag that is not closed"
        ),
        pytest.param("<job/>", 1, "job", "`task`", id="another root"),
        pytest.param(changed(' type="director_evaluator_loop"', ' type="x"'), 2, "type", "", id="other type"),
        pytest.param(changed("<max_iterations>7", "<max_iterations>0"), 8, "max_iterations", "", id="zero"),
        pytest.param(changed("<max_iterations>7", "<max_iterations>101"), 8, "max_iterations", "", id="101"),
        pytest.param(changed("<max_iterations>7", "<max_iterations>x"), 8, "max_iterations", "", id="a word"),
        pytest.param(
            changed("<fresh_context>disabled", "<fresh_context>sometimes"),
            13,
            "context_management/fresh_context",
            "enabled",
            id="an unknown word",
        ),
        pytest.param(
            changed("<accumulate_data>true</accumulate_data>", "<fresh_context>enabled</fresh_context>"),
            32,
            "evaluator/context_management",
            "requires inherit_context `none`",
            id="the constraint, with its place",
        ),
        pytest.param(
            changed("    <model>", "    <colour>red</colour><model>"), 24, "director/colour", "", id="x"
        ),
        pytest.param(
            changed(' from="user_query"', ""), 21, "director/inputs/1/from", "required", id="no source"
        ),
        pytest.param(changed('name="feedback"', 'name="prompt"'), 20, "director/inputs", "twice", id="twice"),
        pytest.param(changed("<path>src/stack.py", "<path>../secret"), 16, "file_paths/1", "", id="outside"),
        pytest.param(
            changed("<path>src/stack.py", "<path>/etc/passwd"), 16, "file_paths/1", "", id="absolute"
        ),
        pytest.param(changed("<timeout>60", "<timeout>0"), 41, "script_execution/timeout", "", id="no time"),
        pytest.param(changed("<timeout>60", "<timeout>nan"), 41, "script_execution/timeout", "", id="nan"),
        pytest.param(
            changed("python check.py", "python 'check.py"), 40, "script_execution/command", "quot", id="quote"
        ),
        pytest.param(
            changed(CONDITION, "evaluation.success ==="),
            47,
            "termination_condition/condition",
            "cannot be read",
            id="half a condition",
        ),
        pytest.param(
            changed(CONDITION, "__import__('os').system('id') === 0"),
            47,
            "termination_condition/condition",
            "uses",
            id="a call of something else",
        ),
        pytest.param(
            changed("<max_iterations>", "<description>again</description><max_iterations>"),
            8,
            "task/description",
            "twice",
            id="an element twice",
        ),
        pytest.param(
            changed("<inputs>", "<inputs><entry/>"), 4, "inputs/entry", "only `input`", id="a stranger"
        ),
        pytest.param(changed("<inputs>", "words<inputs>"), 2, "task", "text between", id="mixed content"),
        pytest.param(
            changed("<director>", "<director><evaluators><evaluator>a</evaluator></evaluators>"),
            2,
            "",
            "director has no `evaluators`",
            id="a director that is a tool",
        ),
    ],
)
def test_a_fault_names_line_and_element(text: str, line: int, element: str, said: str) -> None:
    with pytest.raises(LoopDefinitionError) as caught:
        DirectorEvaluatorLoop.from_xml(text)
    assert (caught.value.line, caught.value.element) == (line, element)
    assert said in str(caught.value)
    assert f"line {line}" in str(caught.value)


BOMB = '<!DOCTYPE task [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE task [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            SMALL.replace("<task", BOMB + "<task").replace(">d<", ">&b;<"), "document type", id="bomb"
        ),
        pytest.param(
            SMALL.replace("<task", OUTSIDE + "<task").replace(">d<", ">&x;<"), "document type", id="external"
        ),
        pytest.param(
            SMALL.replace("<task", '<!DOCTYPE task SYSTEM "http://127.0.0.1/x.dtd"><task'),
            "document type",
            id="dtd",
        ),
        pytest.param(SMALL.replace(">d<", ">&undefined;<"), "undefined entity", id="an unknown entity"),
        pytest.param(SMALL.replace(">d<", ">" + "<a>" * 100 + "</a>" * 100 + "<"), "nested", id="100 levels"),
        pytest.param(SMALL.replace(">d<", f">{'d' * 1_000_000}<"), "bytes", id="a megabyte"),
        pytest.param(SMALL.replace(">d<", f">{'d' * 60_000}<"), "characters of text", id="a long text"),
        pytest.param(SMALL.replace(">d<", ">" + "<a/>" * 3000 + "<"), "elements", id="many elements"),
        pytest.param(SMALL.replace(">d<", ">&#0;<"), "invalid character", id="NUL"),
        pytest.param(SMALL.replace(">d<", ">&#x7f;<"), "control character", id="a control character"),
        pytest.param('<?xml version="1.0" encoding="utf-99"?><task/>', "encoding", id="an unknown encoding"),
    ],
)
def test_hostile_documents_are_refused(text: str, said: str) -> None:
    with pytest.raises(LoopDefinitionError, match=said):
        DirectorEvaluatorLoop.from_xml(text)


@pytest.mark.parametrize(
    ("text", "element"),
    [
        pytest.param("{}", "description", id="nothing in it"),
        pytest.param("[" * 10_000, "", id="nested without end"),
        pytest.param('{"x": "' + "y" * MAX_BYTES + '"}', "", id="too large"),
        pytest.param('{"description": "d", "director": 1, "evaluator": 2}', "director", id="wrong kind"),
    ],
)
def test_bad_json_names_the_field(text: str, element: str) -> None:
    with pytest.raises(LoopDefinitionError) as caught:
        DirectorEvaluatorLoop.from_json(text)
    assert (caught.value.line, caught.value.element) == (None, element)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_anything_is_read_or_refused(text: str | bytes) -> None:
    for read in (DirectorEvaluatorLoop.from_xml, DirectorEvaluatorLoop.from_json):
        try:
            text.encode() if isinstance(text, str) else text
        except UnicodeEncodeError:
            return
        with pytest.raises(LoopDefinitionError):
            read(text)


def test_the_json_schema_is_published() -> None:
    published = json.loads((DOCS / "director-evaluator-loop.schema.json").read_text())
    assert published == DirectorEvaluatorLoop.model_json_schema(by_alias=True)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        pytest.param(FULL, True, id="everything"),
        pytest.param(SMALL, True, id="the least"),
        pytest.param(changed("<max_iterations>7", "<max_iterations>100"), True, id="100"),
        pytest.param(
            changed("<director>", "<output_file>src/a.py</output_file><director>"), True, id="an output file"
        ),
        pytest.param(changed("<max_iterations>7", "<max_iterations>0"), False, id="zero"),
        pytest.param(changed("<max_iterations>7", "<max_iterations>101"), False, id="101"),
        pytest.param(changed("<timeout>60", "<timeout>0"), False, id="no time"),
        pytest.param(changed("<timeout>60", "<timeout>3601"), False, id="too much time"),
        pytest.param(changed(">disabled<", ">sometimes<"), False, id="an unknown word"),
        pytest.param(changed(">full_output<", ">all<"), False, id="an unknown format"),
        pytest.param(changed(' from="user_query"', ""), False, id="no source"),
        pytest.param(changed('name="feedback"', 'name="1 x"'), False, id="no name"),
        pytest.param(changed("    <model>", "<colour/><model>"), False, id="an unknown element"),
        pytest.param(changed("<inputs>", "<inputs><entry/>"), False, id="a stranger in a list"),
        pytest.param(changed("<description>Judge it</description>", ""), False, id="no description"),
        pytest.param(changed(">Judge it<", "> <"), False, id="a blank description"),
        pytest.param(changed('type="director_evaluator_loop"', 'type="x"'), False, id="another type"),
    ],
)
def test_the_published_xsd_agrees_with_the_reader(text: str, valid: bool) -> None:
    schema = XMLSchema10(str(DOCS / "director-evaluator-loop.xsd"), defuse="always", allow="local")
    assert schema.is_valid(text.encode()) is valid
    try:
        DirectorEvaluatorLoop.from_xml(text)
    except LoopDefinitionError:
        assert not valid
    else:
        assert valid


VALUES = {
    "evaluation": {"success": False, "feedback": "more", "details": {"metrics": {"score": 0.9}, "n": None}},
    "iteration": 3,
    "director": {"content": "it's === here", "status": "COMPLETE", "notes": {"tags": ["a"]}},
    "script": None,
}


@pytest.mark.parametrize(
    ("expression", "met", "trouble"),
    [
        pytest.param("evaluation.success === true", False, False, id="not yet"),
        pytest.param("evaluation.success !== true", True, False, id="strictly unequal"),
        pytest.param("iteration >= 3 && !evaluation.success", True, False, id="and, not"),
        pytest.param("iteration > 3 || evaluation.details.metrics.score > 0.8", True, False, id="or"),
        pytest.param("evaluation.details.metrics.score >= 1", False, False, id="float and int"),
        pytest.param('director.content.contains("\'s === h")', True, False, id="operators in strings stay"),
        pytest.param('director.notes.tags[0] === "a"', True, False, id="an index"),
        pytest.param("'a' in director.notes.tags", True, False, id="in"),
        pytest.param("size(director.notes.tags) == 1 ? true : false", True, False, id="a choice"),
        pytest.param("has(evaluation.details.missing)", False, False, id="asked whether it is there"),
        pytest.param("evaluation.details.missing === true", False, True, id="a field that is not there"),
        pytest.param("director.notes.tags[7] === 'a'", False, True, id="an index that is not there"),
        pytest.param("script.exitCode === 0", False, True, id="no script"),
        pytest.param("evaluation.feedback > 3", False, True, id="unlike things"),
        pytest.param("evaluation.details.n > 3", False, True, id="null is no number"),
        pytest.param("evaluation.feedback.matches('(a+)+$')", False, False, id="a slow pattern elsewhere"),
        pytest.param("iteration / (iteration - 3) > 1", False, True, id="by zero"),
        pytest.param("evaluation.details.metrics.score", False, True, id="no truth"),
    ],
)
def test_conditions_in_the_documented_spelling(expression: str, met: bool, trouble: bool) -> None:
    outcome = ask(check_condition(expression), VALUES)
    assert (outcome.met, bool(outcome.trouble)) == (met, trouble)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        pytest.param(" ", "empty", id="empty"),
        pytest.param("true && " * MAX_CHARS, "more than", id="too long"),
        pytest.param("evaluation.success =", "cannot be read", id="an assignment"),
        pytest.param("output === 1", "names output", id="an unknown name"),
        pytest.param("open('x') == 1", "uses open", id="an unknown function"),
        pytest.param("director.notes.tags.all(x, x > 1)", "uses all", id="a loop"),
        pytest.param(
            "evaluation.map (iteration, true).size() > 0", "uses map", id="a loop under a known name"
        ),
        pytest.param("r'\\'.exists(iteration, r'\\' == '')", "uses exists", id="a loop behind a raw string"),
        pytest.param("iteration + 1", "gives int", id="a number"),
        pytest.param("'yes'", "gives str", id="a text"),
        pytest.param("(" * 400 + "true" + ")" * 400, "cannot be read", id="400 brackets"),
        pytest.param("evaluation.success; 1", "cannot be read", id="two statements"),
        pytest.param("() => true", "cannot be read", id="a function"),
    ],
)
def test_what_is_no_condition_is_refused_on_reading(expression: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check_condition(expression)


@given(st.text(max_size=120))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        checked = check_condition(text)
    except ValueError:
        return
    assert isinstance(ask(checked, VALUES).met, bool)
