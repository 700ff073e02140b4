"""What is shared by a folder is started by one process only."""

from pathlib import Path

from tests.scheduling import TOGETHER, unit_of

ROOT = Path(__file__).parents[3]


def test_tests_are_given_out_by_file() -> None:
    one, other = "backend/tests/unit/test_a.py", "backend/tests/unit/test_b.py"
    assert unit_of(f"{one}::test_x") == unit_of(f"{one}::TestY::test_z[a::b]") == one
    assert unit_of(f"{other}::test_x") == other


def test_a_folder_that_shares_something_is_given_out_as_a_whole() -> None:
    sharing = [
        each.parent.relative_to(ROOT).as_posix()
        for each in sorted((ROOT / "backend" / "tests").rglob("conftest.py"))
        if 'scope="package"' in each.read_text()
    ]
    assert sorted(TOGETHER) == sharing
    for folder in sharing:
        assert unit_of(f"{folder}/test_a.py::test_x") == unit_of(f"{folder}/test_b.py::test_y")
