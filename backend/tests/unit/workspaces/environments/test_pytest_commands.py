"""How a project's own commands run pytest."""

from pathlib import Path

import pytest

from app.workspaces.environments.pytest_commands import directories_with_tests, runs_pytest_as_module

WORKFLOW = ".github/workflows/ci.yml"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("tox.ini", "[testenv]\ncommands = coverage run -m pytest {posargs}\n", True),
        ("tox.ini", "[testenv]\ncommands =\n    pytest {posargs}\n    python -m pytest\n", False),
        ("Makefile", "test:\n\tpip install coverage pytest\n\tpython3 -m pytest\n", True),
        ("noxfile.py", "session.run(\n    'python', '-m', 'pytest')\n", True),
        ("noxfile.py", "session.run('pytest')\n# python -m pytest\n", False),
        (WORKFLOW, "      - run: uv run --all-extras python -m pytest -x\n", True),
        (
            WORKFLOW,
            "      - run: uv run --group dev pytest\n      - run: python -m pytest",
            False,
        ),
        (WORKFLOW, "      - run: python -m pytest_other\n", False),
        ("Makefile", "all:\n\tpip install pytest && pytest\n\tpython -m pytest\n", False),
        ("Makefile", "test:\n\tpython -m pytest" + " x" * 50_000 + "\n", True),
        ("Makefile", "test:\n\tpython -m pytest\n" + " " * 200_000 + "\n" * 200_000, True),
    ],
)
def test_pytest_is_a_module_where_all_commands_run_it_so(
    name: str, text: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    assert runs_pytest_as_module(tmp_path) is expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (WORKFLOW, "      - run: pytest tests -v\n", ("tests",)),
        (WORKFLOW, "      - run: python -m pytest -v --cov=lib --tb short tests/unit\n", ("tests/unit",)),
        (WORKFLOW, "      - run: pytest --cov tests\n", ("tests",)),
        (WORKFLOW, "      - run: pytest tests\n      - run: pytest more -x\n", ("tests", "more")),
        (WORKFLOW, "      - run: pytest tests/unit -x\n      - run: pytest tests\n", ("tests",)),
        (WORKFLOW, "      - run: pytest tests && pytest\n", ()),
        (WORKFLOW, "      - run: pytest -k tests\n", ()),
        (WORKFLOW, "      - run: pytest more\n", ()),  # a quarter of the files
        (WORKFLOW, "      - run: pytest tests/test_a.py\n", ()),
        (WORKFLOW, "      - run: pytest ../tests /tests .\n", ()),
        (WORKFLOW, "      - run: pytest tests ${{ matrix.more }}\n", ()),
        (WORKFLOW, "      - run: pytest tests\n      - run: python -m unittest\n", ()),
        (WORKFLOW, "      - name: pytest tests\n        run: pip install pytest tests\n", ()),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n", ()),
        ("tox.ini", "[testenv]\ncommands = pytest {posargs:tests}\n", ("tests",)),
        ("Makefile", "test:\n\tpytest \\\n\t  -q \\\n\t  tests  # all of them\n", ("tests",)),
        ("noxfile.py", "session.run('pytest', '-q', 'tests')\n", ("tests",)),
        ("noxfile.py", "session.run('pytest', *session.posargs)\n", ()),
    ],
)
def test_directories_that_all_commands_name(
    name: str, text: str, expected: tuple[str, ...], tmp_path: Path
) -> None:
    for each in ("tests/test_a.py", "tests/unit/test_b.py", "tests/unit/test_c.py", "more/test_d.py", name):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).touch()
    (tmp_path / name).write_text(text)
    assert directories_with_tests(tmp_path) == expected
