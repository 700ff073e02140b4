"""Texts that a candidate writes are read in a time that grows with their length, not with its square.

Each text is read in a process of its own. It would keep a quadratic reader busy for hours.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_REPORTS = """
from pathlib import Path
from app.runners.evaluators.commands.taking import take_all
from app.workspaces.process import ProcessOutcome

Path("a.xml").write_bytes(b" " * 8_000_000 + b'\\xef\\xbb\\xbf\\n<?xml version="1.0"?><testsuite/>')
Path("b.xml").write_bytes(b"\\n" * 8_000_000)
joined = take_all(Path.cwd(), "*.xml", ProcessOutcome(0, "", "", False, False, 0.0))
assert joined.split() == [b"<testsuites><testsuite/>", b"</testsuites>"], joined[:200]
"""

_PLAN = """
import asyncio
from pathlib import Path
from app.runners.evaluators.plan_artifact import PlanArtifactEvaluator

Path("implementation_plan.md").write_text("- one\\n* two\\n" + "\\n" * 900_000 + "the end")
context = {"workspace_ref": str(Path.cwd())}
result = asyncio.run(PlanArtifactEvaluator().evaluate("discovery", "", context))
assert [each.criterion for each in result.criteria if each.passed][-1] == "names steps", result
"""
_GO = """
from pathlib import Path
from app.runners.evaluators.commands.presets import PRESETS

setting = PRESETS["go-test"].setting
Path("a").mkdir()
Path("b").mkdir()
for text in ("\\n" * 190_000, " " * 190_000, (" " * 19_000 + "\\n") * 9):
    Path("a/go.mod").write_text("module a")
    Path("b/go.mod").write_text(text + "module a")
    assert not setting.changed_manifests(Path("a"), Path("b"), ["go.mod"])
    Path("b/go.mod").write_text(text + "\\r exclude b v1.0.0")
    assert setting.changed_manifests(Path("a"), Path("b"), ["go.mod"]) == {"go.mod"}
"""
_RUST = """
from app.runners.evaluators.commands.rust_tests import with_tests_of

module = "#[cfg(test)]\\nmod tests {}"
for part in %r:
    assert with_tests_of(module, module + "\\n" + part * (1_000_000 // len(part))).startswith(module)
"""
_PROGRAMS = [
    pytest.param(_REPORTS, id="blanks before a report"),
    pytest.param(_PLAN, id="empty lines in a plan"),
    pytest.param(_GO, id="blanks in a go.mod"),
    *(
        pytest.param(_RUST % [part], id=f"Rust: {part}")
        for part in ('\\"', 'r#"', "/*", "#[cfg(test)]", '#[cfg(test)]mod a{}""')
    ),
]


@pytest.mark.parametrize("program", _PROGRAMS)
def test_long_texts(program: str, tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
