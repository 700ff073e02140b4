"""Which rules a project chose, and which only ruff's present release brings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.static.ruff_rules import is_fault, names_fault, rules_of


@pytest.mark.parametrize(
    ("config", "chosen", "not_chosen"),
    [
        pytest.param(
            "[lint]\nextend-select = ['I', 'UP']\n", "I001 UP006 F401 E711", "PYI025 ICN001 E501", id="adds"
        ),
        pytest.param("line-length = 90\n", "F401 E902 E701", "FA102 I001 W291", id="only defaults"),
        pytest.param(
            "[lint]\nselect = ['PL', 'B0']\n", "PLC0414 PLR2004 B006 F821", "B904 F401 I001", id="selects"
        ),
        pytest.param("select = ['ALL']\n", "PYI025 D100", "", id="all, in the old place"),
        pytest.param("[lint]\nselect = 'F'\n", "F401", "I001", id="not a list, so the defaults"),
    ],
)
def test_chosen_rules(tmp_path: Path, config: str, chosen: str, not_chosen: str) -> None:
    (tmp_path / "ruff.toml").write_text(config)
    rules = rules_of(tmp_path)
    assert [each for each in chosen.split() if not rules.chooses(each)] == []
    assert [each for each in not_chosen.split() if rules.chooses(each)] == []


def test_faults_are_known_by_name_too() -> None:
    asked = [sys.executable, "-m", "ruff", "rule", "--all", "--output-format", "json"]
    rules = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    coded = [(each["code"], each["name"]) for each in rules if each["code"]]
    assert [name for code, name in coded if names_fault(name)] == [n for code, n in coded if is_fault(code)]
