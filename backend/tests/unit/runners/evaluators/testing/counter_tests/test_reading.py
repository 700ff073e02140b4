"""Expectations are found where a test has them, and said to be certain only where they are."""

import pytest

from app.runners.evaluators.testing.counter_tests.reading import TestFile, read_test_file


def read(text: str) -> TestFile:
    file = read_test_file("test_x.py", text.encode())
    assert file is not None
    return file


def found(text: str) -> list[str]:
    """Give the sites of the only test of a file: kind, `?` where uncertain, what is changed, row."""
    file = read(text)
    function = next(iter(file.functions.values()))
    return [
        f"{each.kind}{'' if each.certain else '?'} "
        + (file.source.text(each.leaf.node).decode() if each.leaf else each.edits[0][0].text.decode())
        + (f" row {each.row}" if each.row is not None else "")
        for each in function.sites
    ]


def body(*lines: str) -> str:
    return "def test_it(a, b):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "sites"),
    [
        pytest.param(["assert f(1) == 2"], ["value 2", "contrary !="], id="equal"),
        pytest.param(["assert 2 == f(1)"], ["value 2", "contrary !="], id="the other way round"),
        pytest.param(["assert f(1) == [2, (3,)]"], ["value 2", "value 3", "contrary !="], id="list"),
        pytest.param(["assert f(1) == {4: 2}"], ["value 2", "contrary !="], id="dictionary"),
        pytest.param(["assert f(1) == {2}"], ["value? 2", "contrary !="], id="set"),
        pytest.param(["assert f(1) == P(2)"], ["value? 2", "contrary !="], id="object"),
        pytest.param(["assert f(1) == -2"], ["value -2", "contrary !="], id="negative"),
        pytest.param(["assert f(1) == g(a)"], ["value? 1", "contrary !="], id="two calls"),
        pytest.param(["assert 1 == 1"], ["contrary !="], id="no code at all"),
        pytest.param(["assert f(1) is True"], ["value True", "contrary is not"], id="identity"),
        pytest.param(["assert f(1) is not None"], ["contrary is"], id="no identity"),
        pytest.param(["assert f(1) != 2"], ["contrary =="], id="unequal"),
        pytest.param(["assert f(1) < 2"], ["contrary >="], id="less"),
        pytest.param(["assert abs(f(1) - 2.5) < 1e-6"], ["value 2.5", "contrary >="], id="near"),
        pytest.param(["assert abs(f(1) - 2.5) < 3"], ["contrary >="], id="not so near"),
        pytest.param(["assert abs(2 - 1) < 0.1"], ["contrary >="], id="two numbers"),
        pytest.param(
            ["assert a.calls == [mock.call('b')]"], ["value 'b'", "contrary !="], id="calls of a mock"
        ),
        pytest.param(["assert a.calls == [call('b')]"], ["value? 'b'", "contrary !="], id="any other call"),
        pytest.param(["assert 'word' in f(1)"], ["value 'word'", "contrary not in"], id="member"),
        pytest.param(["assert 'w' in f(1)"], ["value? 'w'", "contrary not in"], id="short member"),
        pytest.param(["assert f(1) in (1, 2)"], ["contrary not in"], id="one of several"),
        pytest.param(["assert f(1) not in g(2)"], ["contrary in"], id="no member"),
        pytest.param(["assert f(1)"], ["contrary (not ("], id="truth"),
        pytest.param(["assert not f(1)"], ["contrary (not ("], id="untruth"),
        pytest.param(["assert 0 < f(1) < 3"], ["contrary (not ("], id="between"),
        pytest.param(["assert f(1) == 2 and g()"], ["value 2", "contrary !=", "contrary (not ("], id="and"),
        pytest.param(["assert False"], [], id="never"),
        pytest.param(["assert f(1) == approx(2)"], ["value 2", "contrary !="], id="near"),
        pytest.param(["assert f(1) == approx(2, abs=3)"], ["value? 2", "contrary !="], id="nearer"),
        pytest.param(["x = 2", "assert f(1) == x"], ["value 2", "contrary !="], id="name"),
        pytest.param(["x = 2", "f(x)", "assert g() == x"], ["value? 2", "contrary !="], id="name used twice"),
        pytest.param(["x = 2", "x = 3", "assert f() == x"], ["contrary !="], id="name set twice"),
        pytest.param(["out = []", "f(out)", "assert out == [1]"], ["value 1", "contrary !="], id="output"),
        pytest.param(["self.assertEqual(f(1), 2)"], ["contrary assertNotEqual", "value 2"], id="assertEqual"),
        pytest.param(["self.assertTrue(f(1))"], ["contrary assertFalse", "contrary (not ("], id="assertTrue"),
        pytest.param(["self.assertIsNone(f(1))"], ["contrary assertIsNotNone"], id="assertIsNone"),
        pytest.param(["self.assertIn('word', f())"], ["contrary assertNotIn", "value 'word'"], id="assertIn"),
        pytest.param(["self.assertFoo(f(), 'word')"], ["value? 'word'"], id="assertion of its own"),
        pytest.param(["check(f(), 'word')"], ["value? 'word'"], id="helper"),
        pytest.param(["print(f(), 'word')"], [], id="no helper"),
        pytest.param(["self.assertNoHoliday('1954-03-25')"], [], id="helper that denies"),
        pytest.param(["check_not_listed(f(), 'word')"], [], id="function that denies"),
        pytest.param(["check_notes(f(), 'word')"], ["value? 'word'"], id="helper for notes"),
        pytest.param(["m.assert_called_once_with(1, k=2)"], ["value 1", "value 2"], id="mock"),
        pytest.param(["m.assert_called_once()"], ["contrary assert_not_called"], id="mock was called"),
        pytest.param(["with pytest.raises(KeyError):", "    f(1)"], ["error BufferError"], id="raises"),
        pytest.param(
            ["with pytest.raises(KeyError, match='no word'):", "    f(1)"],
            ["error BufferError", "value 'no word'"],
            id="raises with a message",
        ),
        pytest.param(
            ["with pytest.raises(KeyError, match=r'\\d+'):", "    f(1)"],
            ["error BufferError", "value? r'\\d+'"],
            id="raises with a pattern",
        ),
        pytest.param(["with raises(KeyboardInterrupt):", "    f()"], [], id="raises what ends the run"),
        pytest.param(["self.assertRaises(KeyError, f, 1)"], ["error BufferError"], id="assertRaises"),
        pytest.param(["with pytest.warns(UserWarning):", "    f(1)"], ["error BytesWarning"], id="warns"),
        pytest.param(["with raises(Foo):", "    assert f() == 1"], ["error BufferError"], id="inside raises"),
        pytest.param(["f(1)"], [], id="nothing"),
    ],
)
def test_expectations(lines: list[str], sites: list[str]) -> None:
    assert found(body(*lines)) == sites


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["if a:", "    assert f() == 1"], id="if"),
        pytest.param(["for x in g():", "    assert f() == 1"], id="loop over something"),
        pytest.param(["for x in (1, 2):", "    if x: continue", "    assert f() == 1"], id="jump"),
        pytest.param(["while a:", "    assert f() == 1"], id="while"),
        pytest.param(["if a: return", "assert f() == 1"], id="after a return"),
        pytest.param(["def inner():", "    assert f() == 1"], id="inner function"),
        pytest.param(["try:", "    assert f() == 1", "except KeyError: pass"], id="try"),
        pytest.param(["with self.subTest():", "    assert f() == 1"], id="subtest"),
    ],
)
def test_what_may_not_be_reached_is_uncertain(lines: list[str]) -> None:
    assert [each for each in found(body(*lines)) if each.startswith("value")] == ["value? 1"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["for x in (1, 2):", "    assert f() == 1"], id="loop over a literal"),
        pytest.param(["with g():", "    assert f() == 1"], id="with"),
        pytest.param(["try:", "    assert f() == 1", "finally: pass"], id="finally"),
        pytest.param(["def inner():", "    return 1", "assert f() == 1"], id="after an inner function"),
        pytest.param(["try:", "    g()", "except KeyError: pass", "assert f() == 1"], id="after a try"),
    ],
)
def test_what_is_always_reached_is_certain(lines: list[str]) -> None:
    assert [each for each in found(body(*lines)) if each.startswith("value")] == ["value 1"]


def test_a_failure_that_the_test_itself_swallows_is_no_expectation() -> None:
    assert found(body("try:", "    assert f() == 1", "except Exception: pass")) == ["error? BufferError"]


def test_a_decorator_of_the_project_makes_all_uncertain() -> None:
    assert found("@twice\n" + body("assert f() == 1"))[0] == "value? 1"


def test_properties_are_left_alone() -> None:
    assert found("@given(x())\n" + body("assert f() == 1")) == []


def test_rows_of_parameters() -> None:
    rows = "@pytest.mark.parametrize('a, b', [(1, 2), pytest.param(3, 4, id='x')])\n"
    assert found(rows + body("assert f(a) == b")) == ["value 2 row 0", "value 4 row 1", "contrary !="]


def test_rows_by_name() -> None:
    rows = "ROWS = [(1, 2)]\n@pytest.mark.parametrize(('a', 'b'), ROWS)\n"
    assert found(rows + body("assert f(a) == b")) == ["value 2 row 0", "contrary !="]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param("'a, b', rows()", id="computed"),
        pytest.param("'a, b', [*more, (1, 2)]", id="with more"),
        pytest.param("NAMES, [(1, 2)]", id="names by name"),
        pytest.param("'a, b', [(1, 2)], indirect=True", id="by way of fixtures"),
        pytest.param("", id="nothing"),
    ],
)
def test_rows_that_the_text_does_not_tell(rows: str) -> None:
    assert found(f"@pytest.mark.parametrize({rows})\n" + body("assert f(a) == b")) == ["contrary !="]


def test_constants_that_one_test_alone_reads() -> None:
    assert found("WORD = 'word'\n" + body("assert f() == WORD"))[0] == "value 'word'"
    assert found("WORD = 'word'\nOTHER = WORD\n" + body("assert f() == WORD")) == ["contrary !="]


def test_methods_have_their_classes_in_their_names() -> None:
    file = read("class A:\n    class B:\n        def test_x(self):\n            pass\n")
    assert list(file.functions) == ["A::B::test_x"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"def test_x(:\n", id="no program"),
        pytest.param(b"# coding: latin-1\nx = '\xe4'\n", id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbfx = 1\n", id="byte order mark"),
        pytest.param(b"x = '\0'\n", id="null"),
        pytest.param(b"x = " + b"(" * 5000, id="deep"),
    ],
)
def test_files_that_cannot_be_read(content: bytes) -> None:
    assert read_test_file("test_x.py", content) is None


CHECK = "def check(candidate):\n    assert candidate(1) == 2\n\n"


@pytest.mark.parametrize(
    ("text", "sites"),
    [
        pytest.param(CHECK + body("check(f)"), ["value 2", "contrary !="], id="called"),
        pytest.param(CHECK + body("if a: check(f)"), ["value? 2", "contrary? !="], id="perhaps called"),
        pytest.param(body("assert_it(f)") + CHECK.replace("check", "assert_it"), ["value 2", "contrary !="]),
        pytest.param(CHECK + body("check(f)", "check(g)"), [], id="called twice"),
        pytest.param(CHECK + body("check(f)") + "def test_more(): check(g)\n", [], id="shared"),
        pytest.param(CHECK + "from x import check\n" + body("check(f)"), [], id="replaced"),
        pytest.param("@once\n" + CHECK + body("check(f)"), [], id="decorated"),
        pytest.param(CHECK.replace("    assert", "    yield\n    assert") + body("check(f)"), [], id="lazy"),
        pytest.param(
            CHECK + "def outer(f):\n    if not f: return\n    check(f)\n" + body("outer(f)"),
            ["value? 2", "contrary? !="],
            id="through another that may leave before",
        ),
    ],
)
def test_a_helper_that_only_one_test_calls_is_a_part_of_it(text: str, sites: list[str]) -> None:
    assert found(text) == sites
