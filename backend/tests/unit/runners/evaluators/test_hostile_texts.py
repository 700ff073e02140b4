"""Texts that a candidate writes are read in a time that grows with their length, not with its square.

A separate process reads each text. A quadratic reader would need hours.
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
_OTHERS = {
    "sections without an end": """
from app.runners.evaluators.commands.measuring import measuring_texts
Path("setup.cfg").write_text("[coverage\\n" * 199_000 + "[coverage:run]\\nomit = a\\n[a]\\n")
found = measuring_texts(Path("gone"), here, [], ["setup.cfg"])
assert found["setup.cfg"].endswith(b"[coverage\\n[a]\\n\\n"), found["setup.cfg"][-99:]
""",
    "a claim with many denials": """
import asyncio
from app.runners.evaluators.agent_claim import AgentClaimEvaluator
for start, denied in (("", True), (". ", False)):
    text = "not " * 1_000_000 + start + "VERIFICATION_SUCCESS"
    assert asyncio.run(AgentClaimEvaluator().evaluate("coding", text, {})).passed is not denied
""",
    "blanks in a tox.ini": """
from app.runners.evaluators.source_places import source_places
Path("lib").mkdir()
Path("tox.ini").write_text("PYTHONPATH = a" + " " * 2_000_000 + "b  \\nPYTHONPATH = lib \\t\\n")
assert "lib" in source_places(here), source_places(here)
""",
    "blanks after a name of Django's": """
from app.workspaces.environments.django import settings_of
Path("s.py").touch()
name = "DJANGO_SETTINGS_MODULE"
Path("tox.ini").write_text(name + " " * 2_000_000 + "-\\n" + name + " = s")
assert settings_of(here) == ("s", "")
""",
    "blanks in a requirement": """
from app.workspaces.environments.relaxing import without_pins
blanks = " " * 2_000_000
assert without_pins("a == 1 # b\\na==1" + blanks + "#\\na==1" + blanks + "\\\\\\n", ["a"]) == (
    "a # b\\na" + blanks + "#\\na==1" + blanks + "\\\\\\n"
)
""",
    "blanks in an author's name": """
from app.workspaces.environments.about import fields_of
people = ["a" + " " * 2_000_000 + "b", "<" * 2_000_000, "A B  <c@d>"]
fields = fields_of(here, {"tool": {"poetry": {"name": "a", "authors": people}}})
assert ("Author", "A B") in fields and ("Author-email", "c@d") in fields, fields
""",
    "empty lines in a test": """
from app.runners.evaluators.testing.layout.doctests import runs_doctests
Path("a.py").write_text("\\n" * 1_900_000 + "x")
Path("b.py").write_text("def a():\\n    import doctest")
assert [runs_doctests(here, [name]) for name in ("a.py", "b.py")] == [False, True]
""",
    "empty lines in a source": """
from app.runners.evaluators.testing.running.dependencies import is_foreign, is_made_by_build
Path("a.py").write_text("\\n" * 1_900_000 + "x")
Path("b.py").write_text("if x:\\n    import other\\n    from p import made")
Path("p").mkdir()
Path("p/__init__.py").touch()
assert [is_foreign("other", here, [name]) for name in ("a.py", "b.py")] == [False, True]
assert [is_made_by_build("p.made", here, [name]) for name in ("a.py", "b.py")] == [False, True]
""",
    "open comments and empty lines in a test of Go": """
from app.runners.evaluators.commands.sentinels import lay_sentinels
Path("a_test.go").write_text("package a\\n" + "/* " * 300_000)
Path("b").mkdir()
Path("b/b_test.go").write_text("\\n" * 900_000 + "package b")
lay_sentinels(here, "go-test")
assert [len(list(Path(place).glob("*_test.go"))) for place in (".", "b")] == [2, 2]
""",
    "open calls": """
from app.runners.evaluators.testing.source_questions.shared_state import states_set
assert not states_set("setattr(" * 500_000, "import doctest")
assert states_set("setattr(f, '__doc__', x)", "import doctest") == ["docstrings"]
""",
    "a line with many imports": """
from app.runners.evaluators.testing.layout.owned import owned_by_tests
Path("test_a.py").write_text("import checks, other_checks")
for name in ("checks.py", "other_checks.py"):
    Path(name).write_text("def check_a(x):\\n    assert x")
Path("a.py").write_text("import " * 140_000 + "\\nimport a, other_checks")
names = ["a.py", "checks.py", "other_checks.py", "test_a.py"]
assert owned_by_tests(here, names, lambda name: name == "test_a.py") == {"checks.py"}
""",
}
_START = """
from pathlib import Path
here = Path.cwd()
"""
_PROGRAMS = [
    pytest.param(_REPORTS, id="blanks before a report"),
    pytest.param(_PLAN, id="empty lines in a plan"),
    pytest.param(_GO, id="blanks in a go.mod"),
    *(
        pytest.param(_RUST % [part], id=f"Rust: {part}")
        for part in ('\\"', 'r#"', "/* ", "#[cfg(test)]", '#[cfg(test)]mod a{}""')
    ),
    *(pytest.param(_START + program, id=name) for name, program in _OTHERS.items()),
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
