"""Rules of domains: how they are read, refused and merged."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.core.errors import InvalidInputError
from app.runners.answer.rules import MAX_BYTES, read_rule_sets, rules_for
from app.runners.evaluators.models.response_prompt import DEFAULT_RULES
from app.schemas.answer_rules import MAX_RULES, RuleSets

SETS = """
[domains.health]
rules = ["Name the source of every dose.", "Say when to see a doctor."]

[domains.children]
extends = ["health"]
rules = ["Say for which age it holds.", "Say when to see a doctor."]

[domains.law]
rules = ["Name the country."]
"""


def sets(**domains: Any) -> RuleSets:
    return RuleSets.model_validate({"domains": domains})


def test_rules_are_merged_in_order_and_once(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(SETS)
    read = read_rule_sets(path)
    assert rules_for(read, ["children", "health", "law"], ["Be brief.", "Name the country."]) == [
        *DEFAULT_RULES,
        "Name the source of every dose.",
        "Say when to see a doctor.",
        "Say for which age it holds.",
        "Name the country.",
        "Be brief.",
    ]


def test_without_domains_the_defaults_hold() -> None:
    assert rules_for(read_rule_sets(None), []) == list(DEFAULT_RULES)


def test_an_unknown_domain_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInputError, match="domain 'tax'; known domains: law") as refused:
        rules_for(sets(law={"rules": ["x"]}), ["law", "tax"])
    assert refused.value.field == "domains"


def test_too_many_rules_are_refused() -> None:
    many = sets(a={"rules": [f"rule {number}" for number in range(MAX_RULES)]})
    with pytest.raises(InvalidInputError, match=f"at most {MAX_RULES}"):
        rules_for(many, ["a"], ["one more"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("domains = [", "is no TOML", id="syntax"),
        pytest.param("a = " + "[" * 5000, "is no TOML", id="nesting"),
        pytest.param("[domain.law]", "domain: Extra", id="an unknown table"),
        pytest.param("[domains.law]\nrule = []", "domains.law.rule: Extra", id="an unknown key"),
        pytest.param("[domains.law]\nrules = 'x'", "domains.law.rules: ", id="a text for a list"),
        pytest.param("[domains.law]\nrules = ['']", "domains.law.rules.0: ", id="an empty rule"),
        pytest.param("[domains.law]\nrules = ['a\\nb']".replace("'", '"'), "must be one line", id="lines"),
        pytest.param("[domains.'a b']", "domains.a b", id="a name"),
        pytest.param("[domains.a]\nextends = ['b']", "'b', which 'a' extends", id="nobody to extend"),
        pytest.param(
            "[domains.a]\nextends = ['b']\n[domains.b]\nextends = ['a']", "itself: a > b > a", id="a circle"
        ),
        pytest.param("[domains.a]\nextends = ['a']", "itself: a > a", id="itself"),
        pytest.param("# " + "x" * MAX_BYTES, "has more than", id="large"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(InvalidInputError) as refused:
        read_rule_sets(path)
    assert words in str(refused.value)
    assert refused.value.field == "ANSWER_RULES_FILE"


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "rules.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"cannot be read|not UTF-8"):
        read_rule_sets(path)


def chain(length: int, width: int = 1) -> dict[str, Any]:
    """Give domains that extend the one before them, several times over."""
    return {
        f"d{number}": {"extends": [f"d{number - 1}"] * width if number else []} for number in range(length)
    }


def test_long_ways_are_refused_and_wide_ones_are_walked_once() -> None:
    assert sets(**chain(20, width=20)).rules_of("d19") == []
    with pytest.raises(ValidationError, match="more than 20 domains extend one another"):
        sets(**chain(1000))


def test_diamonds_do_not_multiply() -> None:
    levels = {
        f"{side}{level}": {
            "extends": [f"a{level - 1}", f"b{level - 1}"] if level else [],
            "rules": [f"{level}"],
        }
        for level in range(20)
        for side in "ab"
    }
    with pytest.raises(ValueError, match="known domains"):
        sets(**levels).rules_of("c")
    assert sets(**levels).rules_of("a19") == [str(level) for level in range(20)]


names = st.sampled_from("abcd")


RULES = st.lists(names, max_size=3)
EXTENDS = st.lists(names, max_size=2)


@given(
    st.dictionaries(
        names,
        st.fixed_dictionaries({"rules": RULES, "extends": EXTENDS}),
    ),
    st.lists(names),
)
def test_merging_loses_and_doubles_nothing(domains: dict[str, Any], chosen: list[str]) -> None:
    try:
        read = sets(**domains)
    except ValidationError:
        return
    if not set(chosen) <= set(domains):
        return
    rules = rules_for(read, chosen)
    assert rules[: len(DEFAULT_RULES)] == list(DEFAULT_RULES)
    assert len(rules) == len(set(rules))
    assert {rule for name in chosen for rule in domains[name]["rules"]} <= set(rules)
