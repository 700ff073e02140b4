"""Finds the gates that a project could have, from its files."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from app.schemas.project_file import MAX_COMMANDS, PROJECT_FILE, PresetName
from app.services.local.project_places import (
    cargo_places,
    node_places,
    outermost,
    places_of,
    python_places,
    scripts_of,
)

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

_READ = ("package.json", "Makefile", "Cargo.toml", "pyproject.toml")
"""Names of the files, in any directory, whose text `project_of` needs."""

_MAX_NAME = 64
_LISTED = 6


@dataclass(frozen=True, slots=True)
class GateCandidate:
    """A gate that a project could have; a built-in evaluator has neither a command nor a preset.

    Attributes:
        name: the evaluator's name.
        language: the language that it judges.
        run: program and arguments.
        category: the aspect that it judges.
        preset: the known tool that it runs.
        directories: the directories below the root in which it works; empty for the root. A
            command has at most one.
    """

    name: str
    language: str
    run: tuple[str, ...] = ()
    category: str = "testing"
    preset: PresetName | None = None
    directories: tuple[str, ...] = ()

    @property
    def is_command(self) -> bool:
        """Return whether the gate is a `[[command]]` of the project file."""
        return bool(self.run or self.preset)


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """What the files of a project show about it.

    Attributes:
        languages: number of files by language, largest first.
        candidates: gates that it could have.
        ci: its CI configuration files.
        locks: its lock files.
        places: directories below the root that are separate projects.
        beyond: names of the gates beyond the largest number of commands in a project file.
    """

    languages: Mapping[str, int]
    candidates: tuple[GateCandidate, ...]
    ci: tuple[str, ...]
    locks: tuple[str, ...]
    places: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def project_of(files: Collection[str], texts: Mapping[str, str]) -> ProjectFiles:
    """Derive a project's gates, languages and places from its files.

    Args:
        files: POSIX paths of its files.
        texts: the text of each file with a name in `_READ`, by path.
    """
    known = [_LANGUAGES.get(PurePosixPath(each).suffix.lower()) for each in files]
    languages = Counter(each for each in known if each is not None)
    found = list(_candidates(languages, set(files), texts))
    commands = [each for each in found if each.is_command]
    beyond = commands[MAX_COMMANDS:]
    return ProjectFiles(
        languages=dict(languages.most_common()),
        candidates=tuple(each for each in found if each not in beyond),
        ci=tuple(sorted(each for each in files if each.startswith(_CI))),
        locks=tuple(sorted(each for each in files if PurePosixPath(each).name in _LOCKS)),
        places=tuple(sorted({place for each in found for place in each.directories})),
        beyond=tuple(each.name for each in beyond),
    )


def read_project(tree: Path) -> ProjectFiles:
    """Derive a project's gates, languages and places from a directory.

    Raises:
        OSError: a file cannot be read.
    """
    every = (each for each in tree.rglob("*") if ".git" not in each.relative_to(tree).parts)
    files = [each.relative_to(tree).as_posix() for each in every if each.is_file() and not each.is_symlink()]
    wanted = [each for each in files if PurePosixPath(each).name in _READ]
    texts = {each: (tree / each).read_text(encoding="utf-8", errors="replace") for each in wanted}
    return project_of(files, texts)


def hint_for(tree: Path) -> str:
    """Say what a project without `phaserunner.toml` leaves unjudged, and what to do; empty if nothing."""
    try:
        found = read_project(tree)
    except OSError:
        return ""
    left = [each for each in found.candidates if each.is_command or each.directories]
    if not left:
        return ""
    places = dict.fromkeys(f"{each.language}{_where(each)}" for each in left)
    listed = ", ".join([*places][:_LISTED])
    return (
        f"There is no {PROJECT_FILE}, so no gate knows {listed}. Run `phaserunner init` and commit its file"
    )


def _where(candidate: GateCandidate) -> str:
    return f" in {', '.join(candidate.directories)}" if candidate.directories else ""


def _candidates(
    languages: Mapping[str, int], files: Collection[str], texts: Mapping[str, str]
) -> Iterator[GateCandidate]:
    if languages.get("Python"):
        places = tuple(python_places(files, texts))
        for name in _OF_PYTHON:
            # The linter itself reads the settings of each directory.
            yield GateCandidate(name, "Python", directories=() if name == "ruff_lint" else places)
    names: set[str] = set()
    for candidate in [*_at_root(languages, files, texts), *_below_root(files, texts)]:
        name = _name(candidate, names)
        names.add(name)
        yield replace(candidate, name=name)


def _at_root(
    languages: Mapping[str, int], files: Collection[str], texts: Mapping[str, str]
) -> list[GateCandidate]:
    found = _of_node("", files, texts)
    for file, language, presets in _BY_FILE:
        if file in files:
            found += [_preset(preset, language) for preset in presets]
    has_target = any(line.startswith("test:") for line in texts.get("Makefile", "").splitlines())
    if has_target and not found and not languages.get("Python"):
        found.append(GateCandidate("make_test", next(iter(languages), ""), ("make", "test")))
    return found


def _below_root(files: Collection[str], texts: Mapping[str, str]) -> Iterator[GateCandidate]:
    for place in node_places(files, texts):
        yield from _of_node(place, files, texts)
    places = {
        "go.mod": places_of("go.mod", files),
        "Cargo.toml": cargo_places(files, texts),
        "pom.xml": outermost(["pom.xml"], files),
        "build.gradle": outermost(["build.gradle", "settings.gradle"], files),
        "build.gradle.kts": outermost(["build.gradle.kts", "settings.gradle.kts"], files),
    }
    for file, language, presets in _BY_FILE:
        for place in places[file]:
            yield from (replace(_preset(preset, language), directories=(place,)) for preset in presets)


def _of_node(place: str, files: Collection[str], texts: Mapping[str, str]) -> list[GateCandidate]:
    """Return the gates that the scripts of a `package.json` suggest."""
    start = f"{place}/" if place else ""
    scripts = scripts_of(texts.get(f"{start}package.json", ""))
    is_typed = any(each.startswith(start) and each.endswith((".ts", ".tsx")) for each in files)
    language = "TypeScript" if is_typed else "JavaScript"
    found: list[GateCandidate] = []
    test, lint = scripts.get("test", ""), scripts.get("lint", "")
    runner: PresetName | None = next((preset for word, preset in _RUNNERS.items() if word in test), None)
    if runner:
        found.append(_preset(runner, language))
    elif test and _NO_TEST not in test:
        found.append(GateCandidate("npm_test", language, ("npm", "test")))
    if "eslint" in lint:
        found.append(_preset("eslint", language))
    elif lint:
        found.append(GateCandidate("npm_lint", language, ("npm", "run", "lint"), "compliance"))
    if f"{start}tsconfig.json" in files:
        found.append(_preset("tsc", language))
    return [replace(each, directories=(place,)) for each in found] if place else found


def _name(candidate: GateCandidate, taken: Collection[str]) -> str:
    """Return a name that is unique in the file; the name of a gate below the root includes its directory."""
    words = [candidate.name, *(re.sub(r"[^a-z0-9]+", "_", each.lower()) for each in candidate.directories)]
    name = "_".join(words)[:_MAX_NAME].rstrip("_")
    number = 2
    while name in taken:
        end = f"_{number}"
        name = "_".join(words)[: _MAX_NAME - len(end)] + end
        number += 1
    return name


def _preset(preset: PresetName, language: str) -> GateCandidate:
    category = "compliance" if preset in _CHECKERS else "testing"
    return GateCandidate(preset.replace("-", "_"), language, (), category, preset)
