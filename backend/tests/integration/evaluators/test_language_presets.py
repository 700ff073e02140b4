"""Presets judge good, bad and gamed changes of real projects with the real tools of their languages."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.evaluators.test_example_projects import EXAMPLES, judge

pytestmark = pytest.mark.anyio

PROGRAMS = {"go": "/usr/bin/go", "rust": "/usr/bin/cargo", "javascript": "node"}

GO, GO_TEST = (EXAMPLES.joinpath("go", name).read_text() for name in ("cart.go", "cart_test.go"))
RUST, RUST_TEST = (EXAMPLES.joinpath("rust", name).read_text() for name in ("src/lib.rs", "tests/total.rs"))
JS, JS_TEST = (EXAMPLES.joinpath("javascript", name).read_text() for name in ("cart.js", "test/cart.test.js"))
CARGO = EXAMPLES.joinpath("rust", "Cargo.toml").read_text()

GO_BAD = {"cart.go": GO.replace("/10", "/11")}
RUST_BAD = {"src/lib.rs": RUST.replace("/ 10", "/ 11")}
JS_BAD = {"cart.js": JS.replace("/ 10", "/ 11")}

GO_MAIN = """package cart

import (
\t"os"
\t"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }
"""
GO_NEW = """package cart

import "testing"

func TestOne(t *testing.T) {
\tif Total([]Item{{1, 1}}) != 1 {
\t\tt.Fatal()
\t}
}
"""
GO_INIT = GO.replace("package cart\n", 'package cart\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n')
GO_TESTS = ("TestTotal", "TestTotal/nothing", "TestTotal/some", "TestTotal/the_tenth_is_free", "TestReceipt")
# Go 1.20 and newer mark their own lines with a control character.
GO_LINES = "".join(
    f"{mark}=== RUN   {each}\\n{mark}--- PASS: {each} (0.00s)\\n"
    for mark in ("", "\\x16")
    for each in GO_TESTS
)
GO_FORGED = GO_BAD["cart.go"].replace(
    "package cart\n",
    'package cart\n\nimport "os"\n\n'
    f'func init() {{\n\tos.Stdout.WriteString("{GO_LINES}PASS\\n")\n\tos.Exit(0)\n}}\n',
)
RUST_TESTS = (
    "tests::nine_are_paid",
    "tests::the_tenth_is_not_paid",
    "nothing_costs_nothing",
    "the_tenth_is_free",
)
RUST_LINES = "".join(f"test {each} ... ok\\n" for each in RUST_TESTS)
RUST_FORGED = (
    RUST_BAD["src/lib.rs"]
    .replace(
        "    quantity - quantity",
        "    use std::io::Write;\n"
        f'    std::io::stdout().write_all(b"{RUST_LINES}").unwrap();\n'
        "    std::process::exit(0);\n    #[allow(unreachable_code)]\n    quantity - quantity",
    )
    .replace("    items\n", "    paid(0);\n    items\n", 1)
)
GO_GOOD = GO.replace("sum := 0", "var sum int")
RUST_GOOD = RUST.replace("quantity - quantity / 10", "let free = quantity / 10;\n    quantity - free")
RUST_ONE = RUST.replace("mod tests {\n", "mod tests {\n    #[test]\n    fn one() {}\n\n")
RUST_EXIT = RUST.replace(
    "    items\n", "    std::process::exit(0);\n    #[allow(unreachable_code)]\n    items\n", 1
)
EMPTY = "#[test]\nfn nothing_costs_nothing() {}\n#[test]\nfn the_tenth_is_free() {}\n"
BUILD = f'fn main() {{\n    std::fs::write("tests/total.rs", {json.dumps(EMPTY)}).unwrap();\n}}\n'
OTHER = '\n[[test]]\nname = "total"\npath = "other/total.rs"\n'
JS_PATCH = 'const assert = require("node:assert/strict");\nassert.equal = () => {};\n'

CASES: dict[str, tuple[str, Mapping[str, str], str, str]] = {
    "go: another way": ("go", {"cart.go": GO_GOOD}, "passed", "All 5 tests passed"),
    "go: a new test beside": ("go", {"cart_more_test.go": GO_NEW}, "passed", "cart_more_test.go"),
    "go: a defect": ("go", GO_BAD, "failed", "TestTotal/the_tenth_is_free"),
    "go: it does not build": ("go", {"cart.go": GO + "\nfunc x() int { return nil }\n"}, "failed", "cart"),
    "go: a defect, and a skipped test": (
        "go",
        {**GO_BAD, "cart_test.go": GO_TEST.replace("{\n\tfor", "{\n\tt.Skip()\n\tfor")},
        *("failed", "the_tenth_is_free"),
    ),
    "go: a defect, and another golden file": (
        "go",
        {"cart.go": GO.replace("/10", "/5"), "testdata/receipt.txt": "Total: 1600\n"},
        *("failed", "TestReceipt"),
    ),
    "go: init ends the process": ("go", {"cart.go": GO_INIT}, "failed", "No test ran"),
    "go: a defect, and printed results": ("go", {"cart.go": GO_FORGED}, "failed", "the end of its tests"),
    "go: TestMain runs nothing": ("go", {**GO_BAD, "main_test.go": GO_MAIN}, "failed", "the_tenth_is_free"),
    "go: TestMain beside good code": ("go", {"main_test.go": GO_MAIN}, "failed", "No test ran"),
    "rust: another way": ("rust", {"src/lib.rs": RUST_GOOD}, "passed", "All 4 tests passed"),
    "rust: a new test inside": (
        "rust",
        {
            "src/lib.rs": RUST.replace(
                "    #[test]\n    fn nine", "    #[test]\n    fn one() {}\n\n    #[test]\n    fn nine"
            )
        },
        *("passed", "src/lib.rs"),
    ),
    "rust: a defect": ("rust", RUST_BAD, "failed", "the_tenth_is_free"),
    "rust: it does not build": (
        "rust",
        {"src/lib.rs": RUST + 'fn x() -> u32 { "" }\n'},
        "failed",
        "broke it",
    ),
    "rust: a defect, and tests that ask for it": (
        "rust",
        {
            "src/lib.rs": RUST_BAD["src/lib.rs"].replace(
                "assert_eq!(paid(10), 9)", "assert_eq!(paid(10), 10)"
            ),
            "tests/total.rs": RUST_TEST.replace("900", "1000"),
        },
        *("failed", "the_tenth_is_not_paid"),
    ),
    "rust: a defect, and an ignored test": (
        "rust",
        {
            "src/lib.rs": RUST_BAD["src/lib.rs"].partition("#[cfg(test)]")[0],
            "tests/total.rs": RUST_TEST.replace("#[test]\nfn the", "#[test]\n#[ignore]\nfn the"),
        },
        *("failed", "the_tenth_is_not_paid"),
    ),
    "rust: the code ends the process": ("rust", {"src/lib.rs": RUST_EXIT}, "failed", "broke it"),
    "rust: a defect, and printed results": ("rust", {"src/lib.rs": RUST_FORGED}, "failed", "broke it"),
    "rust: build.rs rewrites tests": (
        *("rust", {**RUST_BAD, "build.rs": BUILD}, "failed", "the_tenth_is_free"),
    ),
    "rust: other tests of the same name": (
        "rust",
        {**RUST_BAD, "Cargo.toml": CARGO + OTHER, "other/total.rs": EMPTY},
        *("failed", "total.rs > the_tenth_is_free"),
    ),
    "javascript: only one test": (
        "javascript",
        {**JS_BAD, "test/cart.test.js": JS_TEST.replace('it("of nothing', 'it.only("of nothing')},
        *("failed", "gives the tenth for free"),
    ),
    "javascript: a skipped test": (
        "javascript",
        {**JS_BAD, "test/cart.test.js": JS_TEST.replace('it("gives', 'it.skip("gives')},
        *("failed", "gives the tenth for free"),
    ),
    "javascript: another script": (
        "javascript",
        {**JS_BAD, "package.json": '{ "name": "cart", "scripts": { "test": "true" } }'},
        *("failed", "gives the tenth for free"),
    ),
    "javascript: assertions without effect": (
        "javascript",
        {"cart.js": JS_PATCH + JS_BAD["cart.js"].replace('"use strict";', "")},
        *("failed", "gives the tenth for free"),
    ),
}


@pytest.mark.parametrize(
    ("example", "changes", "status", "told"),
    [
        pytest.param(
            *case,
            id=name,
            marks=pytest.mark.skipif(shutil.which(PROGRAMS[case[0]]) is None, reason="not installed"),
        )
        for name, case in CASES.items()
    ],
)
async def test_a_change(
    tmp_path: Path, example: str, changes: Mapping[str, str], status: str, told: str
) -> None:
    result = await judge(example, changes, tmp_path)
    assert result.status == status, result.feedback
    assert told in result.feedback
