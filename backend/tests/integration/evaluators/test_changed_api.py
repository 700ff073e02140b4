"""The base's tests do not compile or load against a changed interface: a human is asked about them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.schemas.questions import QUESTIONS
from tests.integration.evaluators.test_example_projects import CART, CART_TEST, judge
from tests.integration.evaluators.test_language_presets import GO, GO_TEST, PROGRAMS, RUST, RUST_TEST

pytestmark = pytest.mark.anyio

# An example in the documentation that compiles nowhere, as there are some with each new compiler.
EXAMPLE = "/// ```no_run\n/// ring_up();\n/// ```\n"
RUST_API = {
    "src/lib.rs": RUST.replace("pub fn total", "pub fn sum_of"),
    "tests/total.rs": RUST_TEST.replace("total", "sum_of"),
}
# It stays on `Item`, whose name does not change, and is run from now on.
RUST_RED = RUST.replace("pub struct Item", f"{EXAMPLE}pub struct Item")
RUST_API_RED = {
    **RUST_API,
    "src/lib.rs": RUST_RED.replace("no_run", "").replace("pub fn total", "pub fn sum_of"),
}
RUST_INSIDE = RUST.replace("fn paid(", "fn to_pay(").replace("* paid(", "* to_pay(")
GO_API = {"cart.go": GO.replace("Total(", "Sum("), "cart_test.go": GO_TEST.replace("Total(", "Sum(")}
JS_API = {
    "cart.js": 'throw new Error("moved to basket.js");\n',
    "basket.js": CART,
    "test/cart.test.js": CART_TEST.replace("../cart.js", "../basket.js"),
}
DOCUMENTED = "doc-tests cart > src/lib.rs - Item"

Case = tuple[str, Mapping[str, str], Mapping[str, str], list[str]]
CASES: dict[str, Case] = {
    "rust": ("rust", {}, RUST_API, ["tests/total.rs"]),
    "rust, where another test is red at the base": (
        "rust",
        {"src/lib.rs": RUST_RED},
        RUST_API_RED,
        ["tests/total.rs", DOCUMENTED],
    ),
    "rust, tests inside of the source": (
        "rust",
        {},
        {"src/lib.rs": RUST_INSIDE.replace("(paid(", "(to_pay(")},
        ["src/lib.rs"],
    ),
    "rust, and the new tests fail": (
        "rust",
        {},
        {**RUST_API, "src/lib.rs": RUST_API["src/lib.rs"].replace("/ 10", "/ 11")},
        [],
    ),
    "rust, and the tests are as they were": ("rust", {}, {"src/lib.rs": RUST_API["src/lib.rs"]}, []),
    "go": ("go", {}, GO_API, ["cart_test.go"]),
    "go, and the new tests fail": (
        "go",
        {},
        {**GO_API, "cart.go": GO_API["cart.go"].replace("/10", "/11")},
        [],
    ),
    "javascript": ("javascript", {}, JS_API, ["test/cart.test.js"]),
    "javascript, and the new tests fail": (
        "javascript",
        {},
        {**JS_API, "basket.js": CART.replace("/ 10", "/ 11")},
        [],
    ),
}


@pytest.mark.parametrize(
    ("example", "before", "changes", "asked"),
    [
        pytest.param(
            *case,
            id=name,
            marks=pytest.mark.skipif(shutil.which(PROGRAMS[case[0]]) is None, reason="not installed"),
        )
        for name, case in CASES.items()
    ],
)
async def test_a_change_of_the_interface(
    tmp_path: Path, example: str, before: Mapping[str, str], changes: Mapping[str, str], asked: list[str]
) -> None:
    result = await judge(example, changes, tmp_path, before)
    assert result.status == "failed", result.feedback
    questions = result.metadata.get(QUESTIONS, [])
    assert [each["id"] for each in questions] == asked, result.feedback
