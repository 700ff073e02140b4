"""One table of changes, each with the verdict that every way into the judge must give."""

from collections.abc import Mapping
from dataclasses import dataclass

RULES = """\
[evaluators.pytest]
enabled = false
[evaluators.ruff_lint]
enabled = false
[evaluators.type_check]
enabled = false
[[command]]
name = "no_bug"
run = "! grep -q BUG tea.txt"
timeout = 300
[[command]]
name = "node_test"
preset = "node-test"
timeout = 300
"""
NO_VERDICT = f"""{RULES}
[[command]]
name = "away"
run = ["a-program-that-is-nowhere"]
"""
BASE: Mapping[str, str] = {
    "phaserunner.toml": RULES,
    "tea.txt": "green\n",
    "tests/test_tea.py": "def test_tea():\n    assert open('tea.txt').read() == 'green'\n",
    "package.json": '{ "type": "module" }\n',
    "cup.js": "export const cups = (litres) => litres * 4;\n",
    "cup.test.js": 'import assert from "node:assert";\nimport test from "node:test";\n'
    'import { cups } from "./cup.js";\n\ntest("cups", () => assert.equal(cups(2), 8));\n',
}
FEWER_CUPS = BASE["cup.js"].replace("4", "3")


@dataclass(frozen=True)
class Change:
    """A change, and what is said of it.

    Attributes:
        files: what it writes.
        verdict: of the gates.
        code: exit code of the command line.
        base: what the base has beside the usual files.
    """

    files: Mapping[str, str]
    verdict: str
    code: int
    base: Mapping[str, str]

    @property
    def whole_base(self) -> dict[str, str]:
        """Every file of the base."""
        return {**BASE, **self.base}


def _change(files: Mapping[str, str], verdict: str, code: int, **base: str) -> Change:
    return Change(files, verdict, code, base)


CHANGES = {
    "good": _change({"tea.txt": "black\n", "cup.js": f"// Big cups.\n{BASE['cup.js']}"}, "passed", 0),
    "bad": _change({"tea.txt": "BUG\n"}, "failed", 1),
    "a weaker test": _change(
        {"tests/test_tea.py": "def test_tea():\n    assert open('tea.txt').read()\n"}, "asks", 3
    ),
    "a weaker gate": _change(
        {"phaserunner.toml": RULES.replace("BUG", "bug"), "tea.txt": "BUG\n"}, "failed", 1
    ),
    "a gate that errors": Change({"tea.txt": "black\n"}, "errored", 6, {"phaserunner.toml": NO_VERDICT}),
    "another language": _change({"cup.js": FEWER_CUPS}, "failed", 1),
    "another language, behind another test": _change(
        {"cup.js": FEWER_CUPS, "cup.test.js": BASE["cup.test.js"].replace("8", "6")}, "asks", 3
    ),
}
