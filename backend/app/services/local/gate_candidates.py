"""Finds the gates that a project could have, by its files. Pure."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, cast

from app.schemas.project_file import PresetName

_LANGUAGES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".cjs": "JavaScript",
    ".jsx": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    ".kt": "Kotlin",
    ".rb": "Ruby",
    ".php": "PHP",
    ".cs": "C#",
    ".c": "C",
    ".cpp": "C++",
    ".swift": "Swift",
}
_OF_PYTHON = ("ruff_lint", "pytest", "type_check")
_NO_TEST = "no test specified"
_CI = (".github/workflows/", ".gitlab-ci.yml", "Jenkinsfile", ".circleci/", "azure-pipelines.yml")
_LOCKS = (
    "uv.lock",
    "poetry.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "go.sum",
    "Cargo.lock",
)

_RUNNERS: Mapping[str, PresetName] = {
    "vitest": "vitest",
    "jest": "jest",
    "mocha": "mocha",
    "node --test": "node-test",
}
_CHECKERS = ("eslint", "tsc", "go-vet", "clippy")
_BY_FILE: tuple[tuple[str, str, tuple[PresetName, ...]], ...] = (
    ("go.mod", "Go", ("go-test", "go-vet")),
    ("Cargo.toml", "Rust", ("cargo-test", "clippy")),
    ("pom.xml", "Java", ("maven",)),
    ("build.gradle", "Java", ("gradle",)),
    ("build.gradle.kts", "Kotlin", ("gradle",)),
)

READ = ("package.json", "Makefile")
"""Files whose text `candidates_of` needs."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A gate that a project could have; a built-in evaluator has neither a command nor a preset."""

    name: str
    language: str
    run: tuple[str, ...] = ()
    category: str = "testing"
    preset: PresetName | None = None

    @property
    def is_command(self) -> bool:
        """Whether it is a `[[command]]` of the project's file."""
        return bool(self.run or self.preset)


@dataclass(frozen=True, slots=True)
class Project:
    """What a project's files say.

    Attributes:
        languages: number of files by language, the most first.
        candidates: gates that it could have.
        ci: its CI configuration.
        locks: its lock files.
    """

    languages: Mapping[str, int]
    candidates: tuple[Candidate, ...]
    ci: tuple[str, ...]
    locks: tuple[str, ...]


def project_of(files: Collection[str], texts: Mapping[str, str]) -> Project:
    """Look at a project.

    Args:
        files: POSIX paths of its files.
        texts: the text of those of `READ` that are there.
    """
    known = [_LANGUAGES.get(PurePosixPath(each).suffix.lower()) for each in files]
    languages = Counter(each for each in known if each is not None)
    return Project(
        languages=dict(languages.most_common()),
        candidates=tuple(_candidates(languages, set(files), texts)),
        ci=tuple(sorted(each for each in files if each.startswith(_CI))),
        locks=tuple(sorted(each for each in files if PurePosixPath(each).name in _LOCKS)),
    )


def _candidates(
    languages: Mapping[str, int], files: Collection[str], texts: Mapping[str, str]
) -> list[Candidate]:
    found = [Candidate(name, "Python") for name in _OF_PYTHON if languages.get("Python")]
    script = "TypeScript" if languages.get("TypeScript") else "JavaScript"
    found += _of_node(_scripts(texts.get("package.json", "")), script, files)
    for file, language, presets in _BY_FILE:
        if file in files:
            found += [_preset(preset, language) for preset in presets]
    has_target = any(line.startswith("test:") for line in texts.get("Makefile", "").splitlines())
    if has_target and not found:
        found.append(Candidate("make_test", next(iter(languages), ""), ("make", "test")))
    return found


def _of_node(scripts: Mapping[str, str], language: str, files: Collection[str]) -> list[Candidate]:
    found: list[Candidate] = []
    test, lint = scripts.get("test", ""), scripts.get("lint", "")
    runner: PresetName | None = next((preset for word, preset in _RUNNERS.items() if word in test), None)
    if runner:
        found.append(_preset(runner, language))
    elif test and _NO_TEST not in test:
        found.append(Candidate("npm_test", language, ("npm", "test")))
    if "eslint" in lint:
        found.append(_preset("eslint", language))
    elif lint:
        found.append(Candidate("npm_lint", language, ("npm", "run", "lint"), "compliance"))
    if "tsconfig.json" in files:
        found.append(_preset("tsc", language))
    return found


def _preset(preset: PresetName, language: str) -> Candidate:
    category = "compliance" if preset in _CHECKERS else "testing"
    return Candidate(preset.replace("-", "_"), language, (), category, preset)


def _scripts(text: str) -> dict[str, str]:
    try:
        document: object = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    scripts = cast("dict[str, Any]", document).get("scripts") if isinstance(document, dict) else None
    if not isinstance(scripts, dict):
        return {}
    return {name: value for name, value in cast("dict[str, Any]", scripts).items() if isinstance(value, str)}
