"""A function that knows the inputs of the tests only, as the judge's process describes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Answers = tuple[tuple[str, str], ...]
"""Expressions and their results, both as texts."""


@dataclass(frozen=True, slots=True)
class RepeatingFunction:
    """A function that shows nothing new for inputs that no test has.

    Attributes:
        name: the module and the name by which tests use it, and those of its attributes.
        tested: what tests asked, and the results.
        others: the same with further inputs, each with a result that tests expect for another input, or
            with an error.
    """

    name: str
    tested: Answers
    others: Answers

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "RepeatingFunction":
        """Read a record of the judge's process."""
        tested, others = (
            tuple((str(asked), str(result)) for asked, result in record[name])
            for name in ("tested", "others")
        )
        return cls(str(record["function"]), tested, others)
