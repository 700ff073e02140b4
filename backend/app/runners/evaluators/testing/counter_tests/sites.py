"""What can be changed in an expectation."""

import ast
from dataclasses import dataclass
from enum import StrEnum

from app.runners.evaluators.testing.counter_tests.edits import Edit
from app.runners.evaluators.testing.counter_tests.literals import Plain


class Kind(StrEnum):
    """How an expectation is made wrong.

    `VALUE`: it expects another value. `ERROR`: it expects another type of exception or warning. `CONTRARY`:
    it expects the contrary of what it did, which tells less: a result that was looked up stands that, too.
    """

    VALUE = "value"
    ERROR = "error"
    CONTRARY = "contrary"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A literal that is expected.

    Attributes:
        node: where it stands.
        value: what it means.
        pattern: whether it is a regular expression.
        member: whether it is looked for in something.
    """

    node: ast.expr
    value: Plain
    pattern: bool = False
    member: bool = False


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Where data files of the tests hold an expectation: a whole text, the values of a key, or a column.

    Attributes:
        file: the text's name without its directory; `""` when it is a key or a column.
        key: of objects, or of the first line of a table.
        column: of rows, counted from 0.
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
        line: of the assertion, counted from 1.
        shown: the assertion, shortened to one line.
        kind: how it is made wrong.
        certain: whether honest code that meets the true expectation is sure to fail the wrong one. Otherwise
            only the base's own code can show that it does.
        leaf: the literal to change; None where `edits` are all there is.
        edits: alternatives, each a set of edits that makes the expectation wrong.
        row: the row of parameters that holds it, counted from 0; None when it stands in the test's body.
        data: where data files hold it; None when the test itself does.
    """

    line: int
    shown: str
    kind: Kind
    certain: bool
    leaf: Leaf | None = None
    edits: tuple[tuple[Edit, ...], ...] = ()
    row: int | None = None
    data: DataPlace | None = None
