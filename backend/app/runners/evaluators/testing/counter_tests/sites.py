"""The parts of an expectation that can be changed."""

import ast
from dataclasses import dataclass
from enum import StrEnum

from app.runners.evaluators.source_edits import Edit
from app.runners.evaluators.testing.counter_tests.literals import Plain


class Kind(StrEnum):
    """How an expectation is made wrong.

    `VALUE`: it expects another value. `ERROR`: it expects another type of exception or warning. `CONTRARY`:
    it expects the opposite. That is weaker evidence, because looked-up results notice it, too.
    """

    VALUE = "value"
    ERROR = "error"
    CONTRARY = "contrary"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A literal that is expected.

    Attributes:
        node: its place.
        value: its value.
        pattern: whether it is a regular expression.
        member: whether the test searches for it in something.
    """

    node: ast.expr
    value: Plain
    pattern: bool = False
    member: bool = False


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Where data files of the tests hold an expectation: a whole text, the values of a key, or a column.

    Attributes:
        file: the text's name without its directory; `""` for a key or a column.
        key: key of objects, or of the first line of a table.
        column: column of rows, counted from 0.
        width: the length of these rows.
    """

    file: str = ""
    key: str = ""
    column: int = 0
    width: int = 0

    def __str__(self) -> str:
        if self.file:
            return self.file
        return f"the key {self.key!r}" if self.key else f"column {self.column + 1} of {self.width}"


@dataclass(frozen=True, slots=True)
class Site:
    """One place where an expectation can be changed.

    Attributes:
        line: line of the assertion, counted from 1.
        shown: the assertion, shortened to one line.
        kind: how it is made wrong.
        certain: whether honest code that meets the true expectation certainly fails the wrong one. Otherwise
            only the base's own code can show that it does.
        leaf: the literal to change; None if there are only `edits`.
        edits: alternatives, each a set of edits that makes the expectation wrong.
        row: the row of parameters that holds it, counted from 0; None if it is in the test's body.
        data: where data files hold it; None if the test itself does.
    """

    line: int
    shown: str
    kind: Kind
    certain: bool
    leaf: Leaf | None = None
    edits: tuple[tuple[Edit, ...], ...] = ()
    row: int | None = None
    data: DataPlace | None = None
