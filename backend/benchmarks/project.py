"""Generates a project of typed modules and tests, and a change to it."""

from pathlib import Path

MODULES = 36
CASES = 6

_MODULE = '''"""Amounts of kind {n}: parsed, rounded and summed."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal{imports}


@dataclass(frozen=True)
class Amount{n}:
    """An amount and what it is counted in."""

    value: Decimal
    unit: str = "EUR"

    def rounded(self, places: int = 2) -> "Amount{n}":
        step = Decimal(1).scaleb(-places)
        return Amount{n}(self.value.quantize(step, rounding=ROUND_HALF_UP), self.unit)


def parse(text: str) -> Amount{n}:
    number, _, unit = text.partition(" ")
    return Amount{n}(Decimal(number), unit or "EUR")


def total(amounts: Iterable[Amount{n}]) -> Decimal:
    by_unit: dict[str, Decimal] = {{}}
    for amount in amounts:
        by_unit[amount.unit] = by_unit.get(amount.unit, Decimal(0)) + amount.value
    return sum(by_unit.values(), Decimal({n}))
{uses}'''

_TEST = """from decimal import Decimal

import pytest

from ledger.amounts_{n:02} import Amount{n}, parse, total


@pytest.mark.parametrize("cents", range({cases}))
def test_parse(cents: int) -> None:
    assert parse(f"{n}.0{{cents}} CHF") == Amount{n}(Decimal({n}) + Decimal(cents) / 100, "CHF")


def test_total() -> None:
    assert total([parse("1.005").rounded(), parse("2")]) == Decimal("3.01") + {n}
"""


def write_project(path: Path, modules: int = MODULES) -> None:
    """Write the project to a directory that does not exist: it is correct for every tool.

    It has a file of code and one of tests for each module, and one more.
    """
    package, tests = path / "ledger", path / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    (package / "__init__.py").write_text("")
    (path / "pyproject.toml").write_text('[project]\nname = "ledger"\nversion = "1.0"\n')
    for number in range(modules):
        before = f"amounts_{number - 1:02}"
        imports = f"\n\nfrom ledger.{before} import total as total_before" if number else ""
        uses = "" if not number else "\n\ndef zero_before() -> Decimal:\n    return total_before([])\n"
        module = _MODULE.format(n=number, imports=imports, uses=uses)
        (package / f"amounts_{number:02}.py").write_text(module)
        (tests / f"test_amounts_{number:02}.py").write_text(_TEST.format(n=number, cases=CASES))


def change_project(path: Path) -> None:
    """Do what an attempt would: one function more, and a test for it."""
    module = path / "ledger" / "amounts_00.py"
    module.write_text(
        f"{module.read_text()}\n\ndef is_debt(amount: Amount0) -> bool:\n    return amount.value < 0\n"
    )
    test = (
        "from ledger.amounts_00 import is_debt, parse\n\n\n"
        'def test_debt() -> None:\n    assert is_debt(parse("-1"))\n'
    )
    (path / "tests" / "test_debt.py").write_text(test)
