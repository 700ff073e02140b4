"""A script of a request may be a text in TOML."""

import pytest
from pydantic import ValidationError

from app.schemas.agents import AgentSpec
from app.schemas.toml_text import MAX_TOML_CHARS, read_toml

SCRIPT = 'title = "tea"\n\n[[phases.coding]]\nsay = "done"\n'


def test_a_script_in_toml_is_read() -> None:
    spec = AgentSpec.model_validate({"backend": "scripted", "script": SCRIPT})
    assert spec.script is not None
    step = spec.script.step("coding", 1, "")
    assert step is not None
    assert (spec.script.title, step.say) == ("tea", "done")


def test_an_object_stays_as_it_is() -> None:
    document = {"title": "tea"}
    assert read_toml(document) is document


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('title = "tea', "end of document"),
        ("title = 1\ntitle = 2\n", "line 2"),
        ("{}", "TOML"),
        ("a = " + "[" * 5_000, "nested too deeply"),
        ("#" * (MAX_TOML_CHARS + 1), "at most 4,000,000 characters"),
    ],
    ids=["open string", "key twice", "no key", "deep", "long"],
)
def test_what_is_no_toml_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_toml(text)


@pytest.mark.parametrize(
    ("text", "told"), [("", "title"), ('title = "tea"', "phases"), ("title = tea", "line 1")]
)
def test_a_text_that_is_no_script_names_the_field(text: str, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        AgentSpec.model_validate({"backend": "scripted", "script": text})
    errors = caught.value.errors()
    assert errors[0]["loc"][0] == "script"
    assert told in str(errors)
