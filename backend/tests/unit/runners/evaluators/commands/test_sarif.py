"""The level of a SARIF result: its own, or that of its rule in the tool or in an extension."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.commands.sarif import read_sarif

HERE = Path("/somewhere/tree")


def rule(name: str, level: str = "") -> dict[str, Any]:
    return {"id": name, **({"defaultConfiguration": {"level": level}} if level else {})}


TOOL = {
    "driver": {"name": "t", "rules": [rule("A", "note"), rule("B", "error"), rule("C"), rule("A", "error")]},
    "extensions": [
        {"name": "first", "rules": [rule("X", "error")]},
        {"name": "second", "rules": [rule("Y", "note"), rule("a/z", "error"), rule("A", "warning")]},
    ],
}
RESULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "its own level": ({"ruleId": "A", "level": "error"}, "error", "A"),
    "by the rule's id": ({"ruleId": "B"}, "error", "B"),
    "a rule without a level": ({"ruleId": "C"}, "warning", "C"),
    "an unknown rule": ({"ruleId": "D"}, "warning", "D"),
    "an unknown level": ({"ruleId": "A", "level": "fatal"}, "error", "A"),
    "by the index": ({"ruleIndex": 1}, "error", "B"),
    "by the index of a repeated id": ({"ruleId": "A", "ruleIndex": 3}, "error", "A"),
    "by the index in a reference": ({"rule": {"index": 0}}, "note", "A"),
    "an index that is not there": ({"ruleId": "B", "ruleIndex": 7}, "error", "B"),
    "no index": ({"ruleId": "B", "ruleIndex": -1}, "error", "B"),
    "an index that is no number": ({"ruleId": "B", "ruleIndex": True}, "error", "B"),
    "a rule with another id": ({"ruleId": "B", "ruleIndex": 0}, "error", "B"),
    "by the id in an extension": ({"ruleId": "X"}, "error", "X"),
    "by the index in an extension": (*({"rule": {"index": 0, "toolComponent": {"index": 0}}}, "error", "X"),),
    "by both indices": (
        {"ruleId": "A", "ruleIndex": 2, "rule": {"toolComponent": {"index": 1}}},
        *("warning", "A"),
    ),
    "an extension that is not there": ({"rule": {"id": "X", "toolComponent": {"index": 9}}}, "error", "X"),
    "an extension by its name": ({"rule": {"id": "Y", "toolComponent": {"name": "second"}}}, "note", "Y"),
    "a part of a rule": ({"ruleId": "B/md5"}, "error", "B/md5"),
    "a part of a rule in an extension": ({"ruleId": "a/z"}, "error", "a/z"),
    "a part of a rule by its index": ({"ruleId": "A/md5", "ruleIndex": 3}, "error", "A/md5"),
    "nothing": ({}, "warning", "finding"),
}


@pytest.mark.parametrize(("result", "level", "name"), RESULTS.values(), ids=RESULTS.keys())
def test_the_level_of_a_result(result: dict[str, Any], level: str, name: str) -> None:
    report = json.dumps({"version": "2.1.0", "runs": [{"tool": TOOL, "results": [result]}]}).encode()
    levels = ("error", "warning", "note")
    found = {each: [one.rule for one in read_sarif(report, HERE, each).findings] for each in levels}
    counting = levels.index(level)
    assert found == {each: [name] if at >= counting else [] for at, each in enumerate(levels)}
