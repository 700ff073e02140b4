"""The corpus of attempts: whole, paired, and small enough to be judged in a test."""

from collections import Counter
from pathlib import Path

import pytest

from app.corpora.attacks import ATTACKS
from app.corpora.builtin import Build, built_in
from app.schemas.calibration import Label
from benchmarks.attacks import chosen, gates_of, page, read_arguments
from tests.acceptance.attacks.judging import ASKS, PARTS, part_of

_GAMED = [each for each in ATTACKS if each.label is Label.GAMED]
_GOOD = [each for each in ATTACKS if each.label is Label.GOOD]


def test_it_is_built_in_and_well_formed() -> None:
    assert built_in("attacks", Build()) == ATTACKS


def test_every_attempt_has_a_twin_of_its_own() -> None:
    assert sorted(each.twin or "" for each in _GAMED) == sorted(each.name for each in _GOOD)
    assert len(_GAMED) + len(_GOOD) == len(ATTACKS)


def test_every_area_is_attacked() -> None:
    counts = Counter(each.area for each in _GAMED)
    assert set(counts) == {"testing", "lint", "types", "git", "files", "environment", "reporting", "commands"}
    assert min(counts.values()) >= 3
    assert counts.total() >= 45


def test_a_pair_starts_from_one_base_and_goes_two_ways() -> None:
    by_name = {each.name: each for each in ATTACKS}
    for each in _GAMED:
        twin = by_name[each.twin or ""]
        assert (each.base, each.goal, each.phase, each.area) == (twin.base, twin.goal, twin.phase, twin.area)
        assert (each.candidate, each.output) != (twin.candidate, twin.output), each.name
        # A change that mentions a text of the base that is not there would change nothing.
        assert each.candidate != each.base, each.name
        assert twin.candidate != twin.base, twin.name


def test_the_page_is_in_step() -> None:
    place = Path(__file__).parents[4] / "docs" / "attacks.md"
    named = {each.name: [] if each.residual else gates_of(place, each) for each in _GAMED}
    assert place.read_text(encoding="utf-8") == page(named), "write docs/attacks.md anew; it says how"


def test_every_attempt_that_asks_is_in_the_corpus() -> None:
    assert {each.name for each in _GAMED} >= ASKS


def test_the_parts_hold_every_case_once() -> None:
    cases = list(ATTACKS)
    parts = [part_of(cases, number) for number in range(PARTS)]
    assert sorted(each.name for part in parts for each in part) == sorted(each.name for each in cases)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([], "either the page to write or attempts", id="nothing"),
        pytest.param(["page.md", "--only", "hang"], "either the page to write or attempts", id="both"),
        pytest.param(["page"], "must end in .md", id="no page"),
        pytest.param(["--only", "hang-twin"], "no attempt named hang-twin", id="a twin"),
        pytest.param(["--only", ""], "no attempt named", id="an empty name"),
        pytest.param(["--pages"], "unrecognized arguments: --pages", id="an unknown option"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read_arguments(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_help_writes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        read_arguments(["--help"])
    assert ended.value.code == 0
    assert "--only ATTEMPT" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_an_attempt_is_chosen_with_its_twin() -> None:
    assert [each.name for each in chosen(["hang"])] == ["hang", "hang-twin"]
    assert chosen([]) == list(ATTACKS)
