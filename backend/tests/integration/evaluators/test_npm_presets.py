"""Tools from npm judge good, bad and gamed changes; a set-up brings them, as in a project of a user.

The packages are installed once per machine, through the registry that npm is configured for.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.commands.programs import SYSTEM, find_programs
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.registry import create_default_registry
from app.runners.project import ProjectRules, panel_for
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.setup import Setups
from app.workspaces.environments.shelf import Shelf
from tests.integration.evaluators.test_example_projects import SEARCH
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]

PACKAGES = {
    "vitest": "vitest@3.2.4",
    "jest": "jest@29.7.0",
    "mocha": "mocha@11.7.1",
    "eslint": "eslint@9.30.0",
    "tsc": "typescript@5.8.3",
}
INSTALLED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "phaserunner-tests" / "npm"
SECONDS = 180.0

TOTAL = "(items) => items.reduce((sum, [price, count]) => sum + price * (count - Math.floor(count / 10)), 0)"
BAD_TOTAL = TOTAL.replace("/ 10", "/ 11")
ESM, COMMON = (f"{start} = {TOTAL};\n" for start in ("export const total", "exports.total"))
BAD_ESM, BAD_COMMON = (each.replace(TOTAL, BAD_TOTAL) for each in (ESM, COMMON))
EXPECTS = """
  it("costs nothing", () => {{ {0} }});
  it("gives the tenth for free", () => {{ {1} }});
"""
VITEST = 'import { expect, it } from "vitest";\nimport { total } from "./cart.js";\n' + EXPECTS.format(
    "expect(total([])).toBe(0);", "expect(total([[100, 10]])).toBe(900);"
)
JEST = 'const { total } = require("./cart");\n' + EXPECTS.format(
    "expect(total([])).toBe(0);", "expect(total([[100, 10]])).toBe(900);"
)
MOCHA = 'const assert = require("assert");\nconst { total } = require("../cart");\n' + EXPECTS.format(
    "assert.equal(total([]), 0);", "assert.equal(total([[100, 10]]), 900);"
)
ESLINT = 'module.exports = [{ files: ["**/*.js"], rules: { "no-unused-vars": "error", eqeqeq: "error" } }];\n'
OLD_FINDING = "const old = 1;\n"
TSCONFIG = '{ "compilerOptions": { "strict": true, "target": "es2022" }, "include": ["*.ts"] }\n'
TYPED = "export const half = (value: number): number => value / 2;\n"
WRONG = 'export const word: number = "two";\n'

BASES: dict[str, Mapping[str, str]] = {
    "vitest": {"package.json": '{ "type": "module" }\n', "cart.js": ESM, "cart.test.js": VITEST},
    "jest": {"package.json": "{}\n", "cart.js": COMMON, "cart.test.js": JEST},
    "mocha": {"package.json": "{}\n", "cart.js": COMMON, "test/cart.test.js": MOCHA},
    "eslint": {"package.json": "{}\n", "eslint.config.js": ESLINT, "a.js": OLD_FINDING},
    "tsc": {"package.json": "{}\n", "tsconfig.json": TSCONFIG, "a.ts": TYPED},
}
CASES: dict[str, tuple[str, Mapping[str, str], str, str]] = {
    "vitest: good": ("vitest", {"cart.js": f"// Better.\n{ESM}"}, "passed", "All 2 tests passed"),
    "vitest: bad": ("vitest", {"cart.js": BAD_ESM}, "failed", "gives the tenth for free"),
    "vitest: a setting leaves the test out": (
        "vitest",
        {
            "cart.js": BAD_ESM,
            "vitest.config.js": 'export default { test: { testNamePattern: "nothing" } };\n',
        },
        *("failed", "gives the tenth for free"),
    ),
    "jest: good": ("jest", {"cart.js": f"// Better.\n{COMMON}"}, "passed", "All 2 tests passed"),
    "jest: bad": ("jest", {"cart.js": BAD_COMMON}, "failed", "gives the tenth for free"),
    "jest: the manifest leaves the test out": (
        "jest",
        {"cart.js": BAD_COMMON, "package.json": '{ "jest": { "testNamePattern": "nothing" } }\n'},
        *("failed", "gives the tenth for free"),
    ),
    "jest: code that reads its arguments": (
        "jest",
        {
            "args.js": "exports.args = () => process.argv.slice(2);\n",
            "args.test.js": 'const { args } = require("./args");\n'
            'it("has no arguments", () => expect(args()).toEqual([]));\n',
        },
        *("passed", "All 2 tests passed"),
    ),
    "mocha: good": ("mocha", {"cart.js": f"// Better.\n{COMMON}"}, "passed", "All 2 tests passed"),
    "mocha: bad": ("mocha", {"cart.js": BAD_COMMON}, "failed", "gives the tenth for free"),
    "mocha: a setting leaves the test out": (
        "mocha",
        {"cart.js": BAD_COMMON, ".mocharc.json": '{ "grep": "nothing" }\n'},
        *("failed", "gives the tenth for free"),
    ),
    "eslint: good": ("eslint", {"b.js": "module.exports = 1;\n"}, "passed", ""),
    "eslint: bad": ("eslint", {"b.js": "const unused = 2;\n"}, "failed", "b.js:1: no-unused-vars"),
    "eslint: silenced": (
        "eslint",
        {"b.js": "/* eslint-disable */\nconst unused = 2;\n"},
        *("failed", "eslint-disable"),
    ),
    "eslint: another setting": (
        "eslint",
        {"b.js": "const unused = 2;\n", "eslint.config.js": "module.exports = [];\n"},
        *("failed", "b.js:1: no-unused-vars"),
    ),
    "tsc: good": ("tsc", {"b.ts": "export const third = (value: number) => value / 3;\n"}, "passed", ""),
    "tsc: bad": ("tsc", {"b.ts": WRONG}, "failed", "b.ts:1: TS2322"),
    "tsc: silenced": ("tsc", {"b.ts": f"// @ts-ignore\n{WRONG}"}, "failed", "@ts-ignore"),
    "tsc: another setting": (
        "tsc",
        {"b.ts": WRONG, "tsconfig.json": TSCONFIG.replace("*.ts", "a.ts")},
        *("failed", "b.ts:1: TS2322"),
    ),
}


def installed(tool: str) -> Path:
    """A directory with the `node_modules` of a tool; skips where the registry cannot be reached."""
    place = INSTALLED / PACKAGES[tool]
    if not place.is_dir():
        made = INSTALLED / f".{PACKAGES[tool]}-{os.getpid()}"
        made.mkdir(parents=True)
        (made / "package.json").write_text("{}")
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1")
        command = ["npm", "install", *options, PACKAGES[tool]]
        try:
            done = subprocess.run(
                command, cwd=made, capture_output=True, timeout=SECONDS, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"npm cannot install {PACKAGES[tool]}: {done.stderr[-300:]}")
            if not place.is_dir():
                made.rename(place)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {PACKAGES[tool]} within {SECONDS:g} seconds")
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("setups"))


async def judge(tool: str, changes: Mapping[str, str], place: Path, shelf: Shelf) -> EvaluationResult:
    packages = await asyncio.to_thread(installed, tool)
    programs = find_programs(SYSTEM[1] / "python3", SEARCH)
    rules = ProjectRules(programs=programs, setups=Setups(shelf, Sandbox(), programs.variable, (packages,)))
    base, candidate = (write(place / name, files) for name, files in _trees(tool, changes))
    text = (
        f'[environment]\nsetup = ["cp -R {packages}/node_modules node_modules"]\ntimeout = {PATIENCE:g}\n'
        f'[[command]]\nname = "unit"\npreset = "{tool}"\ntimeout = {PATIENCE:g}\n'
    )
    found = panel_for(create_default_registry(), text.encode(), rules)
    assert found.problems == ()
    gate = next(
        each.evaluator for each in found.registry.all_registrations() if each.evaluator.name == "unit"
    )
    return await gate.evaluate(
        "coding", "", {"workspace_ref": str(candidate), "base_ref": str(base), "goal": "", "attempt": 1}
    )


def _trees(tool: str, changes: Mapping[str, str]) -> list[tuple[str, Mapping[str, str]]]:
    return [("base", BASES[tool]), ("candidate", {**BASES[tool], **changes})]


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(("tool", "changes", "status", "told"), CASES.values(), ids=CASES.keys())
async def test_a_change(
    tmp_path: Path, shelf: Shelf, tool: str, changes: Mapping[str, str], status: str, told: str
) -> None:
    result = await judge(tool, changes, tmp_path, shelf)
    assert result.status == status, result.feedback
    assert told in result.feedback
