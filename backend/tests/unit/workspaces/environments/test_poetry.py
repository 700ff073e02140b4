"""Poetry's version ranges mean the same in the standard form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from app.workspaces.environments.poetry import poetry_extras, poetry_requirements, specifiers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("^0", ">=0,<1"),
        ("=1.3.0", "==1.3.0"),
        ("==1.3.0", "==1.3.0"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        ("~=1.4", "~=1.4"),
        ("1.2.*", "==1.2.*"),
        ("*", ""),
        (">=1.2, <3", ">=1.2,<3"),
        (">= 1.2", ">=1.2"),
        (">=1 <2", ">=1,<2"),
        ("^1.0 || ^2.0", ">=2.0,<3"),
        ("^5 | ^6 | ^7", ">=7,<8"),
        ("2.0", "==2.0"),
    ],
)
def test_ranges(written: str, expected: str) -> None:
    assert specifiers(written) == expected


@given(st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_a_caret_admits_its_own_version_and_not_the_next_incompatible_one(numbers: list[int]) -> None:
    version = ".".join(map(str, numbers))
    allowed = SpecifierSet(specifiers(f"^{version}"))
    assert allowed.contains(version)
    first = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    after = [*numbers[:first], numbers[first] + 1]
    assert not allowed.contains(".".join(map(str, after)))


def test_tables_become_requirements() -> None:
    table = {
        "python": "^3.9",
        "alpha": {"version": "^1", "python": "<3.12", "markers": "sys_platform == 'linux'"},
        "beta": [{"version": "1.0", "python": "<3.9"}, {"version": "2.0"}],
        "gamma": {"git": "https://host.invalid/g.git", "tag": "v1"},
    }
    assert poetry_requirements(table) == [
        "alpha>=1,<2 ; (sys_platform == 'linux') and python_full_version < '3.12'",
        "beta==1.0 ; python_full_version < '3.9'",
        "beta==2.0",
        "gamma @ git+https://host.invalid/g.git@v1",
    ]


def test_extras_name_optional_dependencies() -> None:
    poetry = {
        "dependencies": {
            "python": "^3.9",
            "Alpha-Tool": {"version": "^1", "optional": True},
            "beta": [{"version": "1.0", "optional": True}, {"version": "2.0"}],
        },
        "extras": {"all": ["alpha_tool", "beta", "unknown"], "odd": "alpha_tool", "none": []},
    }
    assert poetry_extras(poetry) == {
        "all": ["alpha_tool>=1,<2", "beta==1.0", "beta==2.0"],
        "odd": ["alpha_tool>=1,<2"],
        "none": [],
    }
