"""Which new comments that silence a checker are as the base has them."""

import pytest

from app.runners.evaluators.commands.known_silencers import (
    kinds_of,
    known_comments,
    suppressed_as_at_base,
)
from app.runners.evaluators.commands.line_findings import SILENCED
from app.runners.evaluators.static.baseline import Finding


def comments(*texts: str, file: str = "a.rs") -> list[Finding]:
    return [Finding(file, number, SILENCED, text) for number, text in enumerate(texts, 1)]


ALLOW = "#[allow(clippy::too_many_arguments)]"
NEXT = "// eslint-disable-next-line no-console"


@pytest.mark.parametrize(
    ("comment", "kinds"),
    [
        (NEXT, {("", "no-console")}),
        ("x() // eslint-disable-line a/b, no-x -- as is", {("", "a/b"), ("", "no-x")}),
        ("/* eslint-disable no-console */", {("wide", "no-console")}),
        ("/* eslint-disable */", {("wide", "bare")}),
        (ALLOW, {("", "clippy::too_many_arguments")}),
        ('#![allow(dead_code, unused, reason = "a(b")]', {("wide", "dead_code"), ("wide", "unused")}),
        ("//nolint:errcheck,gosec", {("", "errcheck"), ("", "gosec")}),
        ("// nolint", {("", "bare")}),
        ("//go:build ignore", {("", "go:build"), ("", "ignore")}),
        ("// @ts-expect-error", {("", "bare")}),
    ],
)
def test_the_rules_that_a_comment_names(comment: str, kinds: set[tuple[str, str]]) -> None:
    assert kinds_of(comment) == kinds


@pytest.mark.parametrize(
    ("base", "new", "known"),
    [
        pytest.param([ALLOW], ALLOW, False, id="once at the base"),
        pytest.param([ALLOW, ALLOW], ALLOW, True, id="twice at the base"),
        pytest.param(
            [ALLOW, ALLOW], "#![allow(clippy::too_many_arguments)]", False, id="for the whole crate"
        ),
        pytest.param(
            [ALLOW, ALLOW], "#[allow(clippy::too_many_arguments, dead_code)]", False, id="one more rule"
        ),
        pytest.param(
            [NEXT, NEXT], "f() // eslint-disable-line no-console", True, id="for one line in another way"
        ),
        pytest.param([NEXT, NEXT], "// eslint-disable-next-line", False, id="every rule"),
        pytest.param(["// @ts-ignore"] * 9, "// @ts-ignore", False, id="nine without a rule"),
        pytest.param(["// @ts-ignore"] * 10, "// @ts-ignore", True, id="ten without a rule"),
    ],
)
def test_a_practice_of_the_base(base: list[str], new: str, *, known: bool) -> None:
    at_base, added = comments(*base), comments(new, file="b.rs")
    assert (known_comments(added, at_base, [*at_base, *added]) == set(added)) is known


def test_a_comment_may_move_to_another_file_once() -> None:
    at_base, moved = comments(ALLOW), comments(ALLOW, ALLOW, file="b.rs")
    assert known_comments(moved, at_base, moved) == {moved[0]}


def test_suppressed_findings_of_rules_that_the_base_suppresses() -> None:
    one, two = Finding("a.js", 1, "no-console", "x"), Finding("b.js", 1, "no-console", "x")
    other = Finding("a.js", 5, "no-console", "y")
    assert suppressed_as_at_base([other, two], [one]) == {other}
    assert suppressed_as_at_base([other], [one, two]) == {other}
    assert not suppressed_as_at_base([Finding("a.js", 5, "no-undef", "y")], [one, two])
