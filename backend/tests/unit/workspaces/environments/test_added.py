"""What a candidate requires otherwise than its base."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.workspaces.environments.added import added_requirements, changed_requirements


def write(tree: Path, files: Mapping[str, str]) -> Path:
    tree.mkdir()
    for name, text in files.items():
        (tree / name).write_text(text)
    return tree


POETRY = '[[package]]\nname = "zeta"\nversion = "{}"\n'
UV = '[[package]]\nname = "zeta"\nversion = "{}"\nsource = {{ registry = "https://index.example/simple" }}\n'
ELSEWHERE = '[[package]]\nname = "zeta"\nversion = "{}"\nsource = {{ git = "https://elsewhere.example" }}\n'


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"requirements.txt": "zeta<2\n"}, {"requirements.txt": "zeta>=2\n"}, ("zeta>=2",)),
        ({"requirements.txt": "zeta\n"}, {"requirements.txt": "zeta\n"}, ()),
        ({"requirements.txt": "zeta\n"}, {"requirements.txt": "gamma\n"}, ()),
        (
            {"requirements.txt": "zeta\n"},
            {"requirements.txt": "zeta @ https://example.org/b.whl\n"},
            (),
        ),
        ({"requirements.txt": "zeta\n"}, {"requirements.txt": "zeta>=2; python_version < '3'\n"}, ()),
        ({"requirements.txt": "pytest>=8\n"}, {"requirements.txt": "pytest>=9\n"}, ()),
        ({"poetry.lock": POETRY.format(1)}, {"poetry.lock": POETRY.format(2)}, ("zeta==2",)),
        ({"uv.lock": UV.format(1)}, {"uv.lock": UV.format(2)}, ("zeta==2",)),
        ({"uv.lock": UV.format(1)}, {"uv.lock": ELSEWHERE.format(2)}, ()),
        ({"uv.lock": UV.format(1)}, {"uv.lock": UV.format(2) + UV.format(3)}, ()),
        ({"uv.lock": UV.format(1)}, {"uv.lock": UV.format("2 @ https://elsewhere.example")}, ()),
        ({"uv.lock": UV.format(1)}, {"uv.lock": "no lock"}, ()),
        ({"requirements.txt": "zeta\n"}, {"requirements.txt": "-f wheels\nzeta\n"}, ()),
        ({"poetry.lock": POETRY.format(1)}, {"poetry.lock": POETRY.format("no version")}, ()),
        (
            {"requirements.txt": "zeta\n", "uv.lock": UV.format(1)},
            {"requirements.txt": "zeta>=2\n", "uv.lock": UV.format(1)},
            ("zeta>=2",),
        ),
    ],
)
def test_which_releases_a_candidate_changes(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], changed: tuple[str, ...]
) -> None:
    base, candidate = write(tmp_path / "base", before), write(tmp_path / "candidate", after)
    assert changed_requirements(base, candidate) == changed


NOX = """@nox.session
def tests(session):
    session.install({})
    session.run("pytest")
"""


@pytest.mark.parametrize(
    ("before", "after", "added"),
    [
        ({"noxfile.py": NOX.format("'zeta'")}, {"noxfile.py": NOX.format("'zeta', 'eta'")}, ("eta",)),
        (
            {"tox.ini": "[testenv]\ndeps = zeta\n"},
            {"tox.ini": "[testenv]\ndeps =\n zeta\n eta>=2\n"},
            ("eta>=2",),
        ),
        (
            {"tox.ini": "no section\n", "requirements.txt": "zeta\n"},
            {"requirements.txt": "zeta\neta\n"},
            ("eta",),
        ),
        ({"noxfile.py": NOX.format("'zeta'")}, {"requirements.txt": "zeta\n"}, ()),
    ],
)
def test_sessions_declare_dependencies_of_a_candidate_too(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], added: tuple[str, ...]
) -> None:
    base, candidate = write(tmp_path / "base", before), write(tmp_path / "candidate", after)
    assert added_requirements(base, candidate) == added
