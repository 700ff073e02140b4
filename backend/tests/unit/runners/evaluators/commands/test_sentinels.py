"""Sentinels: one in each test program, and a program that does not reach its own is no pass."""

import json
from pathlib import Path

from app.runners.evaluators.commands.output_tests import read_go, read_libtest
from app.runners.evaluators.commands.sentinels import lay_sentinels


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_each_go_package_with_tests_gets_one(tmp_path: Path) -> None:
    copy = write(
        tmp_path / "copy",
        {
            "a/a_test.go": "// package wrong\n/*\npackage wrong\n*/\npackage a\n",
            "a/b_test.go": "//go:build linux\n\npackage a_test\n",
            "b/b.go": "package b\n",
            "testdata/x_test.go": "package x\n",
            "vendor/m/m_test.go": "package m\n",
            "_old/o_test.go": "package o\n",
            "empty/e_test.go": "",
        },
    )
    (copy / "c").mkdir()
    (copy / "c" / "c_test.go").symlink_to(tmp_path / "copy" / "a" / "a_test.go")
    name = lay_sentinels(copy, "go-test")
    (made,) = copy.rglob("zz_phaserunner_*_test.go")
    assert made.parent == copy / "a"
    assert made.read_text().startswith("package a_test\n"), "these run after those of the package itself"
    assert f"func {name}(" in made.read_text()
    assert lay_sentinels(copy, "go-test") != name


def test_each_rust_test_program_gets_one(tmp_path: Path) -> None:
    copy = write(
        tmp_path / "copy",
        {
            "Cargo.toml": "",
            "src/lib.rs": "// lib",
            "src/other.rs": "",
            "src/bin/tool.rs": "",
            "tests/one.rs": "",
            "tests/common/mod.rs": "",
            "member/Cargo.toml": "",
            "member/src/main.rs": "",
            "target/debug/Cargo.toml": "",
        },
    )
    outside = write(tmp_path / "outside", {"x.rs": ""})
    (copy / "tests" / "link.rs").symlink_to(outside / "x.rs")
    name = lay_sentinels(copy, "libtest")
    with_one = {each.relative_to(copy).as_posix() for each in copy.rglob("*.rs") if name in each.read_text()}
    assert with_one == {"src/lib.rs", "src/bin/tool.rs", "tests/one.rs", "member/src/main.rs"}
    assert (copy / "src/lib.rs").read_text().startswith("// lib\n#[cfg(test)]\nmod ")
    assert (outside / "x.rs").read_text() == ""


def test_no_sentinel_is_written_behind_a_link(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"lib.rs": "", "bin/tool.rs": "", "one.rs": ""})
    copy = write(tmp_path / "copy", {"Cargo.toml": ""})
    (copy / "src").symlink_to(outside)
    (copy / "tests").symlink_to(outside)
    lay_sentinels(copy, "libtest")
    assert [each.read_text() for each in outside.rglob("*.rs")] == [""] * 3


def events(*pairs: tuple[str, str]) -> str:
    told = [{"Package": "m/a", "Test": name, "Action": action} for name, action in pairs]
    return "\n".join(map(json.dumps, [*told, {"Package": "m/a", "Action": "pass"}]))


def test_a_go_sentinel_is_no_test_and_says_that_its_package_ended() -> None:
    base = read_go(events(("TestOne", "pass"), ("TestZz", "pass")), "TestZz")
    assert [each.id for each in base.cases] == ["m/a > TestOne"]
    assert base.ended == {"m/a"}
    cut = read_go(events(("TestOne", "pass")), "TestOther")
    assert cut.cut_short_since(base) == ["m/a: the end of its tests"]
    assert base.cut_short_since(cut) == [], "where the base has none, nothing is missing"
    failed = read_go(events(("TestOne", "fail")), "TestOther")
    assert failed.cut_short_since(base) == [], "its failure says enough"
    assert read_go(events(("TestZz", "pass")), "TestZz").ran == 0, "a sentinel alone is no test"


def test_of_two_outcomes_of_a_go_test_the_failure_counts() -> None:
    for order in (("pass", "fail"), ("fail", "pass")):
        report = read_go(events(*(("TestOne", each) for each in order)))
        assert [each.outcome for each in report.cases] == ["failed"]


RUST = (
    "     Running unittests src/lib.rs (target/debug/deps/cart-1)\n\nrunning {count} tests\ntest a ... ok\n"
)


def test_a_rust_sentinel_is_no_test_and_says_that_its_program_ended(tmp_path: Path) -> None:
    base = read_libtest(f"{RUST.format(count=2)}test zz_1::ended ... ok\n", tmp_path, "zz_1")
    assert [each.id for each in base.cases] == ["src/lib.rs > a"]
    assert base.ended == {"src/lib.rs"}
    cut = read_libtest(RUST.format(count=1), tmp_path, "zz_2")
    assert cut.cut_short_since(base) == ["src/lib.rs: the end of its tests"]
