"""What silences a tool is found wherever it stands, and taken out without moving a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.runners.evaluators.static.silencers import known_silencers, silencers, without
from app.runners.evaluators.static.silencing_comments import Tool

LINTER, CHECKER = Tool.LINTER, Tool.TYPE_CHECKER


@pytest.mark.parametrize(
    ("tool", "source", "left"),
    [
        pytest.param(LINTER, "import os  # noqa\n", "import os\n", id="noqa"),
        pytest.param(LINTER, "x()  #NOQA:F821, E1\n", "x()\n", id="noqa with codes, in capitals"),
        pytest.param(LINTER, "# ruff: noqa\nx = 1\n", "#\nx = 1\n", id="for the file"),
        pytest.param(LINTER, "# flake8: noqa: F821\n", "#\n", id="flake8"),
        pytest.param(LINTER, "x = 1  # why  # noqa\n", "x = 1  # why\n", id="after a reason"),
        pytest.param(LINTER, "x = 1  # ruff: ignore[F821]\n", "x = 1\n", id="ruff: ignore"),
        pytest.param(LINTER, "import a  # noqa: F401\n", None, id="an import for its effect"),
        pytest.param(LINTER, "import a  # noqa: F401, E402 - fixtures\n", None, id="two codes and a reason"),
        pytest.param(LINTER, "import a  # noqa: F401, F821\n", "import a\n", id="one code more"),
        pytest.param(LINTER, "from a import b, b  # noqa: F401, F811\n", None, id="an import made twice"),
        pytest.param(LINTER, "def f():  # noqa: F811\n", "def f():\n", id="a definition made twice"),
        pytest.param(LINTER, "import a  # noqa: F4010\n", "import a\n", id="another code"),
        pytest.param(LINTER, 'x = "# noqa"\n', None, id="in a string"),
        pytest.param(LINTER, '"""\n# noqa\n"""\n', None, id="in a docstring"),
        pytest.param(LINTER, "# a noqaish word\n", None, id="only a word"),
        pytest.param(LINTER, "x = 1  # type: ignore\n", None, id="not the linter's"),
        pytest.param(CHECKER, "x = 1  # type: ignore\n", "x = 1\n", id="type: ignore"),
        pytest.param(CHECKER, "x = 1  # type: ignore[a, b]  # noqa\n", "x = 1\n", id="with codes"),
        pytest.param(CHECKER, "# mypy: ignore-errors\n", "#\n", id="mypy"),
        pytest.param(CHECKER, "# pyright: basic\nx = 1  # ty: ignore\n", "#\nx = 1\n", id="others"),
        pytest.param(CHECKER, "x = []  # type: list[int]\n", None, id="a type comment"),
        pytest.param(CHECKER, "x = 1  # noqa\n", None, id="not the checker's"),
        pytest.param(
            CHECKER,
            "from typing import no_type_check as n\n@n\ndef f(): ...\n",
            "from typing import type_check_only as n\n@n\ndef f(): ...\n",
            id="no_type_check by another name",
        ),
        pytest.param(
            CHECKER,
            "if not TYPE_CHECKING:\n    x = 1\n",
            "if not __name__:\n    x = 1\n",
            id="not for checkers",
        ),
        pytest.param(
            CHECKER,
            "if not typing.TYPE_CHECKING: x = 1\n",
            "if not typing.__name__: x = 1\n",
            id="on one line",
        ),
        pytest.param(
            CHECKER,
            "if TYPE_CHECKING:\n    pass\nelse:\n    x = 1\n",
            "if __name__:\n    pass\nelse:\n    x = 1\n",
            id="in the else",
        ),
        pytest.param(
            CHECKER,
            "if not TYPE_CHECKING:\n    x = '''\nelse:\n'''\n",
            "if not __name__:\n    x = '''\nelse:\n'''\n",
            id="an else in a string",
        ),
        *(
            pytest.param(
                CHECKER,
                f"{condition}\n    x = 1\n",
                f"{condition.replace('TYPE_CHECKING', '__name__')}\n    x = 1\n",
                id=condition,
            )
            for condition in (
                "if not (TYPE_CHECKING):",
                "if (not TYPE_CHECKING):",
                "if x and not TYPE_CHECKING:",
                "if not TYPE_CHECKING and x:",
                "if not not not TYPE_CHECKING:",
            )
        ),
        pytest.param(CHECKER, "if not not TYPE_CHECKING:\n    import a\n", None, id="not hidden"),
        pytest.param(
            CHECKER, "if x and not TYPE_CHECKING:\n    x = 1\nelse:\n    x: int\n", None, id="both, and more"
        ),
        pytest.param(
            CHECKER, "if not TYPE_CHECKING:\n    x = 1\nelse:\n    x: int\n", None, id="both have something"
        ),
        pytest.param(
            CHECKER,
            "if TYPE_CHECKING:\n    import a\nelse:\n    a = None\n",
            None,
            id="an import for checkers",
        ),
        pytest.param(CHECKER, "if TYPE_CHECKING:\n    import a\n", None, id="only for checkers"),
        pytest.param(CHECKER, "x = (\n  1  # type: ignore\n", "x = (\n  1\n", id="not Python"),
        pytest.param(CHECKER, "\f\nx = 1  # type: ignore\n", "\f\nx = 1\n", id="a form feed"),
        pytest.param(
            CHECKER, "x = '\u2028'\ny = 1  # type: ignore\n", "x = '\u2028'\ny = 1\n", id="a line separator"
        ),
    ],
)
def test_silencers(tool: Tool, source: str, left: str | None) -> None:
    found = silencers(source, tool)
    assert without(source, found) == (source if left is None else left)
    assert bool(found) == (left is not None)


@pytest.mark.parametrize(
    ("base", "candidate", "new"),
    [
        pytest.param({"a.py": "x  # noqa"}, {"a.py": "y\n  x  # noqa"}, [], id="the line moved in the file"),
        pytest.param({"a.py": "x  # noqa"}, {"b.py": "x  # noqa"}, [], id="the line moved to another file"),
        pytest.param({"a.py": "x  # noqa"}, {"a.py": "x  # noqa\nx  # noqa"}, ["a.py"], id="one more"),
        pytest.param(
            {"a.py": "x  # noqa"}, {"a.py": "x  # noqa", "b.py": "x  # noqa"}, ["b.py"], id="copied"
        ),
        pytest.param({"a.py": "x  # noqa"}, {"a.py": "z  # noqa"}, ["a.py"], id="over other code"),
        pytest.param(
            {"a.py": "x  # type: ignore [attr-defined]\ny  # type: ignore [misc]"},
            {"a.py": "z  # type: ignore [attr-defined]"},
            [],
            id="a practice of exact comments with a blank",
        ),
        pytest.param(
            {"a.py": "ns = getattr(el, 'name') if el else None  # noqa: B009"},
            {"a.py": "ns = getattr(el, 'name') if el is not None else None  # noqa: B009"},
            [],
            id="the new version of its line",
        ),
        pytest.param(
            {"a.py": "ns = getattr(el, 'name') if el else None  # noqa: B009"},
            {"a.py": "ns = getattr(el, 'name') if el is not None else None  # noqa: B009, S307"},
            ["a.py"],
            id="the new version of its line, and a rule more",
        ),
        pytest.param(
            {"a.py": "ns = getattr(el, 'name')  # noqa"},
            {"a.py": "one = getattr(el, 'name')  # noqa\ntwo = getattr(el, 'name')  # noqa"},
            ["a.py"],
            id="two new versions of one line",
        ),
        pytest.param({}, {"a.py": "x  # noqa"}, ["a.py"], id="no base"),
        pytest.param(
            {"a.py": "x  # ruff:ignore[os-path-join]\ny  # ruff:ignore[os-path-join]"},
            {"a.py": "z  # ruff:ignore[os-path-join]"},
            [],
            id="a rule by its name, as the base does",
        ),
        pytest.param(
            {"a.py": "x  # ruff:ignore[os-path-join]\ny  # ruff:ignore[os-path-join]"},
            {"a.py": "z  # ruff:ignore[os-path-join, undefined-name]"},
            ["a.py"],
            id="a fault by its name",
        ),
        pytest.param(
            {"a.py": "\n".join(f"x{i}  # noqa: E501" for i in range(10))},
            {"b.py": "# ruff: noqa: RUF002, E501\nx = 1"},
            [],
            id="rules for a whole file where many comments name rules",
        ),
        pytest.param(
            {"a.py": "\n".join(f"x{i}  # noqa: E501" for i in range(10))},
            {"b.py": "# ruff: noqa\nx = 1", "c.py": "# ruff: noqa: F821", "d.py": "# noqa: E501"},
            ["b.py", "c.py", "d.py"],
            id="all rules for a file, faults, and a comment for no line",
        ),
        pytest.param(
            {"a.py": "x  # ruff:ignore[undefined-name]\ny  # ruff:ignore[F821]\nv  # noqa: F821"},
            {"a.py": "z  # ruff:ignore[undefined-name]"},
            ["a.py"],
            id="a fault is no practice",
        ),
    ],
)
def test_new_silencers(base: dict[str, str], candidate: dict[str, str], new: list[str]) -> None:
    found = {name: silencers(text, LINTER) for name, text in candidate.items()}
    known = known_silencers({name: silencers(text, LINTER) for name, text in base.items()}, found)
    assert [name for name, each in found.items() for _ in known.new_among(name, each)] == new


_PIECES = (
    "# noqa",
    "x = 1",
    "if not TYPE_CHECKING:",
    "'''",
    "\n",
    "    ",
    "(",
    "# type: ignore",
    "@no_type_check",
    "\\",
    "é",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=20), st.sampled_from(Tool))
def test_any_text_keeps_its_lines(pieces: list[str], tool: Tool) -> None:
    source = "".join(pieces)
    left = without(source, silencers(source, tool))
    assert left.count("\n") == source.count("\n")
    assert silencers(left, tool) == [] or len(silencers(left, tool)) <= len(silencers(source, tool))


@pytest.mark.parametrize(
    ("source", "left"),
    [
        pytest.param("cast(NoReturn, f())", "cast(object, f())", id="a cast to what never returns"),
        pytest.param(
            "cast(Callable[[], Never], f)()",
            "cast(Callable[[], object], f)()",
            id="a cast to such a function",
        ),
        pytest.param("cast(int, NoReturn)", "cast(int, NoReturn)", id="the name as a value"),
        pytest.param("def f() -> NoReturn: ...", "def f() -> NoReturn: ...", id="an annotation"),
        pytest.param(
            "if TYPE_CHECKING:\n    def f(): ...\nelse:\n    def f():\n        return 1\n",
            "if not TYPE_CHECKING:\n    def f(): ...\nelse:\n    def f():\n        return 1\n",
            id="a function that only the program sees",
        ),
        pytest.param(
            "if typing.TYPE_CHECKING:\n    def f(): ...\nelse:\n    def f():\n        return 1\n",
            "if not typing.TYPE_CHECKING:\n    def f(): ...\nelse:\n    def f():\n        return 1\n",
            id="the same with the module's name",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    from a import T\nelse:\n    T = object\n",
            "if TYPE_CHECKING:\n    from a import T\nelse:\n    T = object\n",
            id="an import for the checker",
        ),
    ],
)
def test_code_that_the_checker_would_not_see(source: str, left: str) -> None:
    assert without(source, silencers(source, Tool.TYPE_CHECKER)) == left
