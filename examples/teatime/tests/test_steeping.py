import pytest

from teatime.catalogue import find
from teatime.steeping import infusions, ordinal, plan


def test_every_infusion_needs_longer_than_the_one_before():
    assert infusions(find("gyokuro"), 3) == [120, 150, 180]


def test_the_plan_has_a_line_for_each_infusion():
    assert plan(find("Assam"), 2).splitlines() == [
        "Assam, 98 °C",
        "1st infusion  3m30s",
        "2nd infusion  5m",
    ]


def test_a_cold_brew_takes_all_night():
    assert plan(find("cold brew"), 1).endswith("12h")


@pytest.mark.parametrize(("number", "word"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th")])
def test_infusions_are_counted_in_words(number, word):
    assert ordinal(number) == word
