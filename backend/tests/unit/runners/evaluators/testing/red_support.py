"""Tests that are red at the base, for tests of how they are sorted."""

from pathlib import Path

from app.runners.evaluators.testing.running.base_code import BaseCode

PATH = "tests/test_a.py"
NAME = f"{PATH}::test_a"
WRONG_VALUE = "tests/test_a.py:7: AssertionError: assert 3 == 4"
TO_COME = "tests/test_a.py:3: ImportError: cannot import name 'add' from 'calc' (calc.py)"
NO_CODE = BaseCode(Path("gone"), ())


def written(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
