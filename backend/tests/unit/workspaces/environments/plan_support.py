"""Projects of the usual forms, and what is to be installed for them."""

from pathlib import Path

from app.workspaces.environments.plan import ROOTS, TEST_RUNNER, plan_for

GROUPS = """
[project]
name = "demo"
dependencies = ["alpha>=1"]
[project.optional-dependencies]
docs = ["sphinx"]
test = ["demo[cov]", "beta"]
cov = ["coverage"]
[dependency-groups]
typing = ["mypy"]
tests = ["pytest", {include-group = "typing"}]
dev = ["ruff"]
"""
POETRY = """
[tool.poetry]
name = "demo"
version = "1.0"
[tool.poetry.dependencies]
python = "^3.9"
alpha = "^1.2"
beta = {version = "~0.4", extras = ["fast"]}
gamma = {version = "*", optional = true}
delta = {path = "../delta"}
[tool.poetry.group.test.dependencies]
pytest = "^8.0"
"""


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def roots(tree: Path) -> list[str]:
    return [each for each in plan_for(tree).files[ROOTS].splitlines() if each != TEST_RUNNER]
