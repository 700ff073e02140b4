"""Only what is new against the base counts."""

import pytest

from app.runners.evaluators.static.baseline import (
    INVALID_SYNTAX,
    MANY,
    Comparison,
    Finding,
    Wording,
    compare,
    often_broken,
    result_of,
)
from app.runners.evaluators.static.ruff_lint import RuffLintEvaluator
from tests.patience import PATIENCE


def finding(line: int = 1, file: str = "a.py", rule: str = "F401", message: str = "`os` unused") -> Finding:
    return Finding(file, line, rule, message)


@pytest.mark.parametrize(
    ("found", "at_base", "gone", "new"),
    [
        pytest.param([finding()], [], [], [finding()], id="nothing at base"),
        pytest.param([finding(9)], [finding(1)], [], [], id="moved line"),
        pytest.param([finding(1), finding(2)], [finding(2)], [], [finding(1)], id="one more of the same"),
        pytest.param([finding()], [finding(rule="F811")], [], [finding()], id="other rule"),
        pytest.param([finding()], [finding(file="b.py")], [], [finding()], id="other file"),
        pytest.param(
            [finding(message="redefines x of line 4")],
            [finding(message="redefines x of line 2")],
            [],
            [],
            id="line in the message",
        ),
        pytest.param([finding(file="pkg/a.py")], [finding()], ["a.py"], [], id="moved file"),
        pytest.param(
            [finding(file="pkg/a.py")], [finding()], [], [finding(file="pkg/a.py")], id="copied file"
        ),
        pytest.param([], [finding()], [], [], id="mended"),
    ],
)
def test_comparison(
    found: list[Finding], at_base: list[Finding], gone: list[str], new: list[Finding]
) -> None:
    compared = compare(found, at_base, gone=gone)
    assert list(compared.new) == new
    assert len(compared.new) + len(compared.known) == len(found)


@pytest.mark.parametrize(
    ("count", "score"),
    [pytest.param(0, 1.0), pytest.param(3, 0.7), pytest.param(10, 0.0), pytest.param(99, 0.0)],
)
def test_each_finding_costs_a_tenth(count: int, score: float) -> None:
    comparison = Comparison(tuple(finding(line) for line in range(1, count + 1)), (finding(500),))
    result = result_of(RuffLintEvaluator(timeout=PATIENCE), comparison, Wording("lint error", "clean", "c"))
    assert result.score == score
    assert result.passed == (count == 0)
    assert result.metadata["error_count"] == count
    assert len(result.suggestions) == min(count, 5)
    assert len(result.feedback) < 4000
    assert "1 that the base already has" in result.feedback


@pytest.mark.parametrize(
    ("at_base", "new", "all_or_none", "covered"),
    [
        pytest.param(["R1"] * MANY, finding(rule="R1"), False, True, id="one rule, many times in the file"),
        pytest.param(["R1"] * (MANY - 1), finding(rule="R1"), False, False, id="not so many times"),
        pytest.param(["R1"] * MANY, finding(file="b.py", rule="R1"), False, False, id="in another file"),
        pytest.param(["R1", "R2"] * MANY, finding(rule="R3"), False, False, id="another rule"),
        pytest.param(["R1", "R2"] * MANY, finding(rule="R3"), True, True, id="another rule, all or none"),
        pytest.param(
            ["R1", "R2"] * MANY, finding(file="b.py", rule="R3"), True, False, id="another clean file"
        ),
        pytest.param(["R1", "FAULT"] * MANY, finding(rule="FAULT"), True, False, id="a fault always counts"),
        pytest.param(["FAULT"] * MANY, finding(rule="R1"), True, False, id="faults make no habit"),
    ],
)
def test_what_the_base_breaks_often_is_advice(
    at_base: list[str], new: Finding, all_or_none: bool, covered: bool
) -> None:
    known = [finding(line, rule=rule) for line, rule in enumerate(at_base)]
    loose = often_broken(known, but={"FAULT"}.__contains__, all_or_none=all_or_none)
    assert loose.covers(new) == covered


def test_a_rule_broken_in_several_files_is_advice_everywhere() -> None:
    known = [finding(line, file=f"{line % 3}.py", rule="R1") for line in range(MANY)]
    assert often_broken(known, but={"F"}.__contains__).covers(finding(file="new.py", rule="R1"))


@pytest.mark.parametrize(
    ("file", "covered"),
    [("data/new.py", True), ("code/new.py", False), ("data/more/new.py", False), ("new.py", False)],
)
def test_files_that_do_not_parse_are_advice_where_the_base_keeps_many(file: str, covered: bool) -> None:
    places = ["data/a.py", "data/b.py", "data/c.py", "code/a.py", "a.py", "b.py", "c.py"]
    known = [finding(file=each, rule=INVALID_SYNTAX) for each in places]
    loose = often_broken(known, but={INVALID_SYNTAX}.__contains__)
    assert loose.covers(finding(file=file, rule=INVALID_SYNTAX)) is covered
    assert not loose.covers(finding(file="data/a.py", rule="F821"))


@pytest.mark.parametrize(("files", "covered"), [(MANY, True), (MANY - 1, False)])
def test_undefined_names_are_advice_where_many_files_of_a_directory_have_them(
    files: int, covered: bool
) -> None:
    known = [
        finding(file=f"data/{number}.py", rule=rule) for number in range(files) for rule in ("F821", "F706")
    ]
    loose = often_broken(known, but={"F821", "F706"}.__contains__)
    assert loose.covers(finding(file="data/new.py", rule="F821")) is covered
    assert not loose.covers(finding(file="data/new.py", rule="F706"))
    assert not loose.covers(finding(file="code/new.py", rule="F821"))
