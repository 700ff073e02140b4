"""Reports of Go, Rust, jest and checkers; tests inside of Rust's sources; what the base decides."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.runners.evaluators.commands.junit import Case, JUnit, JUnitOutcome, ReportError
from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.runners.evaluators.commands.line_findings import read_eslint, read_lines, silencers
from app.runners.evaluators.commands.output_tests import read_go, read_jest, read_libtest
from app.runners.evaluators.commands.presets import PRESETS
from app.runners.evaluators.commands.red_at_base import RedAtBase, sort_failures
from app.runners.evaluators.commands.rust_tests import with_tests_of
from app.runners.evaluators.commands.setting import overlays_for
from app.schemas.project_file import LinesReport
from app.schemas.questions import BaseFailures
from tests.unit.runners.evaluators.conftest import Tree

HERE = Path("/somewhere/tree")
PASSED, FAILED, SKIPPED = JUnitOutcome.PASSED, JUnitOutcome.FAILED, JUnitOutcome.SKIPPED


def go(*events: tuple[str, str, str]) -> str:
    lines = [
        json.dumps({"Action": action, "Package": "p", "Test": test, "Output": text})
        for action, test, text in events
    ]
    return "\n".join(lines)


def outcomes(report: JUnit) -> dict[str, JUnitOutcome]:
    return {each.id: each.outcome for each in report.cases}


def test_go_tells_each_test_with_its_message() -> None:
    text = go(
        ("run", "TestA", ""),
        ("pass", "TestA", ""),
        ("run", "TestB", ""),
        ("output", "TestB", "=== RUN   TestB\n"),
        ("output", "TestB", "    b_test.go:3: 1 is not 2\n"),
        ("fail", "TestB", ""),
        ("skip", "TestC", ""),
        ("fail", "", ""),
    )
    report = read_go(text)
    assert outcomes(report) == {"p > TestA": PASSED, "p > TestB": FAILED, "p > TestC": SKIPPED}
    assert report.failures[0].message == "b_test.go:3: 1 is not 2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (go(("pass", "TestA", ""), ("fail", "", "")), {"p > TestA": PASSED, "p": FAILED}),
        ("FAIL\tq/broken [build failed]\n", {"q/broken": FAILED}),
        ("FAIL\tq/broken [setup failed]\n" + go(("pass", "", "")), {"q/broken": FAILED}),
        (go(("pass", "", "")), {}),
    ],
)
def test_a_go_package_that_fails_alone_is_a_failure(text: str, expected: dict[str, JUnitOutcome]) -> None:
    assert outcomes(read_go(text)) == expected


@pytest.mark.parametrize("text", ["", "ok p 0.1s", "{", "[1]", go(("run", "TestA", ""), ("pass", "", ""))])
def test_what_is_no_whole_report_of_go_is_refused(text: str) -> None:
    with pytest.raises(ReportError):
        read_go(text)


RUST = f"""     Running unittests src/lib.rs (target/debug/deps/a-16d0)

running 2 tests
test tests::one ... ok
test tests::two ... ignored, slow

test result: ok. 1 passed; 0 failed; 1 ignored

     Running tests/it.rs (target/debug/deps/it-3ffc)

running 1 test
test whole - should panic ... FAILED

failures:

---- whole - should panic stdout ----
note: test did not panic

test result: FAILED. 0 passed; 1 failed
   Doc-tests price

running 1 test
test {HERE}/src/lib.rs - net (line 5) ... ok
"""


def test_rust_tells_tests_by_target_and_without_lines_of_documents() -> None:
    report = read_libtest(RUST, HERE)
    assert outcomes(report) == {
        "src/lib.rs > tests::one": PASSED,
        "src/lib.rs > tests::two": SKIPPED,
        "tests/it.rs > whole - should panic": FAILED,
        "doc-tests price > src/lib.rs - net": PASSED,
    }
    assert report.failures[0].message == "note: test did not panic"


@pytest.mark.parametrize(
    "text",
    ["", "error: could not compile", "running 2 tests\ntest a ... ok\n", RUST.replace("test tests::two", "")],
)
def test_a_rust_target_that_ends_early_is_refused(text: str) -> None:
    with pytest.raises(ReportError):
        read_libtest(text, HERE)


def test_jest_tells_tests_and_files_that_do_not_load() -> None:
    tests: list[dict[str, Any]] = [
        {"ancestorTitles": ["sum"], "title": "adds", "status": "passed"},
        {"ancestorTitles": ["sum"], "title": "bad", "status": "failed", "failureMessages": ["no"]},
        {"ancestorTitles": [], "title": "later", "status": "pending"},
    ]
    files: list[dict[str, Any]] = [
        {"name": f"{HERE}/a.test.js", "status": "failed", "assertionResults": tests},
        {"name": f"{HERE}/b.test.js", "status": "failed", "message": "SyntaxError", "assertionResults": []},
    ]
    assert outcomes(read_jest(json.dumps({"testResults": files}).encode(), HERE)) == {
        "a.test.js > sum > adds": PASSED,
        "a.test.js > sum > bad": FAILED,
        "a.test.js > later": SKIPPED,
        "b.test.js": FAILED,
    }


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"testResults": 3}', b"\xff"])
def test_what_is_not_jests_is_refused(data: bytes) -> None:
    with pytest.raises(ReportError):
        read_jest(data, HERE)


@pytest.mark.parametrize(
    ("preset", "line", "expected"),
    [
        ("tsc", "src/x.ts(1,7): error TS2322: Type 'a' is bad.", "src/x.ts:1: TS2322 Type 'a' is bad."),
        ("go-vet", "./a.go:3:2: unreachable code", "a.go:3: finding unreachable code"),
        ("go-vet", "vet: b/b.go:2:23: undeclared name", "b/b.go:2: finding undeclared name"),
        ("clippy", "src/lib.rs:8:47: warning: unneeded `return`", "src/lib.rs:8: warning unneeded `return`"),
        ("clippy", "src/lib.rs:8:4: error[E0308]: mismatched", "src/lib.rs:8: error[E0308] mismatched"),
    ],
)
def test_lines_of_checkers(preset: str, line: str, expected: str) -> None:
    report = {str(name): each.report for name, each in PRESETS.items()}[preset]
    assert isinstance(report, LinesReport)
    found = read_lines(f"# p\n{line}\n{line}\nexit status 1\n", HERE, report.pattern)
    assert [str(each) for each in found.findings] == [expected]


def test_eslint_counts_what_a_comment_suppresses() -> None:
    message = {"ruleId": "no-undef", "message": "x", "line": 2}
    file = {"filePath": f"{HERE}/a.js", "messages": [], "suppressedMessages": [message]}
    assert [str(each) for each in read_eslint(json.dumps([file]).encode(), HERE).findings] == [
        "a.js:2: no-undef x"
    ]
    with pytest.raises(ReportError):
        read_eslint(b"{}", HERE)


def test_comments_that_silence_a_checker_are_findings(tree: Tree) -> None:
    place = tree({"a.ts": "x\n// @ts-ignore\n", "a.md": "@ts-ignore"})
    setting = PRESETS["tsc"].setting
    found = list(silencers(place, ["a.ts", "a.md", "gone.ts"], setting.silencers, setting.suffixes))
    assert [(each.file, each.line) for each in found] == [("a.ts", 2)]


DECLARED = "#[cfg(test)]\nmod tests;"
NONE = "#[cfg(test)]\nmod tests {}"
MODULE = '#[cfg(test)]\nmod tests {\n    // }\n    fn a() { let x = "}"; let y = \'}\'; let z = r#"}"#; }\n}'


@pytest.mark.parametrize(
    ("base", "candidate", "expected"),
    [
        pytest.param("fn a() {}\n", "fn b() {}\n", "fn b() {}\n", id="no tests at the base"),
        pytest.param(f"a\n{MODULE}\n", f"b\n{MODULE}\n", f"b\n{MODULE}\n", id="the same tests"),
        pytest.param(f"a\n{MODULE}\n", f"b\n{NONE}\nc\n", f"b\n{MODULE}\nc\n", id="other tests"),
        pytest.param(f"a\n{MODULE}\n", "b\n", f"b\n\n{MODULE}\n", id="tests that are gone"),
        pytest.param(
            f"a\n{MODULE}\n", f"b\n{DECLARED}\nc\n", f"b\n{MODULE}\nc\n", id="tests moved to a file"
        ),
        pytest.param(
            f"a\n{DECLARED}\n", f"b\n{NONE}\nc\n", f"b\n{DECLARED}\nc\n", id="tests moved from a file"
        ),
        pytest.param(f"a\n{DECLARED}\n", "b\n", f"b\n\n{DECLARED}\n", id="a declaration that is gone"),
        pytest.param(f"a\n{DECLARED}\n", f"b\n{DECLARED}\n", f"b\n{DECLARED}\n", id="the same declaration"),
        pytest.param(
            f"a\n{DECLARED}\n",
            'b\n#[cfg(test)]\n#[path = "x.rs"]\nmod tests;\n',
            f"b\n{DECLARED}\n",
            id="another file",
        ),
        pytest.param(f"a\n{MODULE}\n", f"/*{MODULE}*/\n", f"/*{MODULE}*/\n\n{MODULE}\n", id="in a comment"),
    ],
)
def test_the_bases_tests_in_a_source_of_rust(base: str, candidate: str, expected: str) -> None:
    assert with_tests_of(base, candidate) == expected


@pytest.mark.parametrize(
    ("preset", "name", "before", "after", "taken"),
    [
        ("go-test", "go.mod", "module a\n", "module a\nrequire b v1.0.0\n", False),
        ("go-test", "go.mod", "module a\n", "module a\nreplace b => ./b\n", True),
        ("go-test", "vendor/github.com/stretchr/testify/assert/assertions.go", "a", "b", True),
        ("go-test", "vendor/github.com/a/b/c.go", "a", "b", False),
        ("cargo-test", "Cargo.toml", "[package]\n", '[package]\n[dependencies]\na = "1"\n', False),
        ("cargo-test", "Cargo.toml", "[package]\n", '[package]\n[[test]]\npath = "a.rs"\n', True),
        ("cargo-test", "Cargo.toml", "[package]\n", "[package]\nautotests = false\n", True),
        ("cargo-test", "Cargo.toml", "[package]\n", '[dev-dependencies]\na = { path = "b" }\n', True),
        ("cargo-test", "Cargo.toml", "[package]\n", "[[[", True),
        ("cargo-test", "Cargo.toml", "[features]\na = []\n", "[features]\na = []\nb = []\n", False),
        ("cargo-test", "Cargo.toml", "[features]\na = []\n", '[features]\na = []\ndefault = ["a"]\n', True),
        ("cargo-test", ".cargo/config.toml", "", '[build]\nrustflags = "--cfg x"\n', True),
        ("node-test", "src/a.js", "1", "2", False),
        ("maven", "pom.xml", "<a/>", "<b/>", True),
    ],
)
def test_what_a_preset_takes_from_the_base(
    tree: Tree, preset: str, name: str, before: str, after: str, *, taken: bool
) -> None:
    setting = {str(key): each.setting for key, each in PRESETS.items()}[preset]
    overlay = overlays_for(tree({name: before}), tree({name: after}), "x", setting=setting).strict
    assert overlay.changed == ((name,) if taken else ())


@pytest.mark.parametrize(
    ("preset", "name", "after", "taken"),
    [
        ("clippy", "Cargo.toml", '[lints.clippy]\nall = "allow"\n', True),
        ("clippy", "Cargo.toml", '[workspace.lints.rust]\nunused = "allow"\n', True),
        ("clippy", "Cargo.toml", '[dependencies]\na = "1"\n', False),
        ("tsc", "web/tsconfig.json", "{}", True),
        ("eslint", "eslint.config.js", "x", True),
    ],
)
def test_what_a_checker_takes_from_the_base(
    tree: Tree, preset: str, name: str, after: str, *, taken: bool
) -> None:
    setting = {str(key): each.setting for key, each in PRESETS.items()}[preset]
    both = overlays_for(tree({name: ""}), tree({name: after}), ["npx"], measures=True, setting=setting)
    assert (both.own.names, both.settings) == (((name,),) * 2 if taken else ((), ()))


def test_a_checker_takes_its_part_of_a_package_from_the_base(tree: Tree) -> None:
    base = tree({"package.json": '{"eslintConfig": {"rules": {"no-undef": 2}}}'})
    lax = tree({"package.json": '{"eslintConfig": {}, "version": "2"}'})
    own = overlays_for(base, lax, ["npx", "eslint"], measures=True).own
    assert (b"no-undef" in own.texts["package.json"], b'"version"' in own.texts["package.json"]) == (
        True,
        True,
    )


def test_results_of_a_build_are_always_left_out(tree: Tree) -> None:
    setting = LanguageSetting(left_out=("target/*",))
    both = overlays_for(tree({"a.rs": ""}), tree({"a.rs": "", "target/debug/x": ""}), "x", setting=setting)
    assert (both.strict.added, both.own.added) == ((), ("target/debug/x",))


def junit(**outcome: JUnitOutcome) -> JUnit:
    return JUnit(tuple(Case(name, each) for name, each in outcome.items()))


@pytest.mark.parametrize(
    ("red", "counted", "asked"),
    [
        (RedAtBase(BaseFailures.MUST_PASS), ["new", "old"], []),
        (RedAtBase(BaseFailures.IGNORE), ["new"], []),
        (RedAtBase(), ["new"], ["old"]),
        (RedAtBase(tests=["ol*"]), ["new", "old"], []),
        (RedAtBase(tests=["other"]), ["new"], []),
        (RedAtBase(known=["ol*", "new"]), ["new"], []),
        (RedAtBase(known=["ne*"]), ["new"], ["old"]),
        (RedAtBase(words="Make the tests pass", known=["*"]), ["new"], ["old"]),
    ],
)
def test_red_tests_of_the_base_count_by_policy(red: RedAtBase, counted: list[str], asked: list[str]) -> None:
    sorted_ = sort_failures(junit(new=FAILED, old=FAILED), [junit(new=PASSED, old=FAILED)], red)
    assert [each.id for each in sorted_.counted] == counted
    assert [each.id for each in sorted_.questions] == asked


def test_flaky_tests_count_unless_the_base_has_them() -> None:
    now, again = junit(a=FAILED, b=FAILED, c=FAILED), junit(a=PASSED, b=PASSED, c=FAILED)
    bases = [junit(a=PASSED, b=PASSED, c=PASSED), junit(a=PASSED, b=FAILED, c=PASSED)]
    sorted_ = sort_failures(now, bases, RedAtBase(), again)
    assert [each.id for each in sorted_.counted] == ["a", "c"]
    assert (sorted_.flaky, sorted_.flaky_at_base) == ({"a", "b"}, {"b"})


def same(*outcomes: JUnitOutcome | str) -> JUnit:
    """Tests that share an id. A text is the message of a failure."""
    return JUnit(
        tuple(
            Case("renders", each) if isinstance(each, JUnitOutcome) else Case("renders", FAILED, each)
            for each in outcomes
        )
    )


def test_of_tests_with_equal_ids_no_more_are_excused_than_fail_at_the_base() -> None:
    base = same("old", PASSED, PASSED)
    assert sort_failures(same("old", PASSED, PASSED), [base], RedAtBase()).counted == ()
    for now in (same("old", "new", PASSED), same("new", PASSED, "old")):
        sorted_ = sort_failures(now, [base], RedAtBase(known=["renders"]))
        assert [each.message for each in sorted_.counted] == ["new"]
        assert [each.message for each in sorted_.red] == ["old"]
    both = sort_failures(same("old", "new"), [same("old", "new"), base], RedAtBase())
    assert [each.message for each in both.counted] == ["new"], "it fails in only one run at the base"


def test_of_flaky_tests_with_equal_ids_no_more_are_excused_than_fail_at_the_base() -> None:
    bases = [same(PASSED, PASSED), same("chance", PASSED)]
    now = same("chance", "new")
    assert len(sort_failures(now, bases, RedAtBase(), same(PASSED, PASSED)).counted) == 1
    assert sort_failures(same("chance", PASSED), bases, RedAtBase(), same(PASSED, PASSED)).counted == ()
    assert len(sort_failures(now, bases, RedAtBase(), now).counted) == 2
