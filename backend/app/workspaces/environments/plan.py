"""Decides what to install for a tree: files for uv, and nothing that a candidate could change."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.workspaces.environments.beside import metadata_of, projects_beside, requirements_of
from app.workspaces.environments.commanded import commanded_extras, commanded_requirements
from app.workspaces.environments.developed import developed_requirements
from app.workspaces.environments.groups import Wanted, wanted
from app.workspaces.environments.imported import imported_by_tests
from app.workspaces.environments.locked import locked_versions, version_lock
from app.workspaces.environments.naming import choose, choose_groups, names_in, normal
from app.workspaces.environments.project import ProjectMetadata, project_of, requires_python
from app.workspaces.environments.reading import read_text, read_toml, table, texts
from app.workspaces.environments.requirement_files import RequirementFiles
from app.workspaces.environments.roots import declared_roots
from app.workspaces.environments.stubs import stub_requirements
from app.workspaces.environments.tox import tox_extras
from app.workspaces.environments.undeclared import asks_for_metadata
from app.workspaces.environments.uv_lock import default_groups, excluding_extras, locked_groups
from app.workspaces.environments.uv_workspace import members
from app.workspaces.files.origin import month_after, origin_of

RECIPE = "11"
"""Part of every environment's key: a change of the way of installing needs new environments."""

TEST_RUNNER = "pytest>=7.4"

ROOTS, CONSTRAINTS, LOCKED = "phaserunner-roots.txt", "phaserunner-constraints.txt", "phaserunner-locked.txt"
PYLOCK = "pylock.toml"
_PLUGINS_OF_PYTEST = "pytest11"
"""The group of entry points by which pytest finds plug-ins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentPlan:
    """The input for creating an environment.

    Attributes:
        files: the files for uv, by relative path.
        install: those files that name what to install.
        constraints: those files that only limit versions.
        export: arguments of `uv export` that turn a lock among the files into `LOCKED`; empty without a lock.
        project: the judged project. The environment holds its metadata, but none of its code.
        members: the other projects of its tree, by path; of these, a lock may choose some.
        requires_python: version specifiers; may be empty.
        pinned_python: a version such as `3.12` that the project develops with; may be empty.
        read_from: the files that all this comes from.
        required: normalised names of the indispensable packages: pytest and the project's own requirements.
        optional: normalised names of requirements that go first if not all can be had together; some are not
            among the files.
        newest: a day such as `2024-05-01`; later releases are ignored if the index knows release dates.
        overrides: requirements that replace all others for their packages.
        of_candidate: normalised names of the packages that the candidate chose; they are never built.
        needed: False if the service's own interpreter has everything that is needed.
    """

    files: Mapping[str, str]
    install: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    export: tuple[str, ...] = ()
    project: ProjectMetadata | None = None
    members: Mapping[str, ProjectMetadata] = field(default_factory=dict[str, ProjectMetadata])
    requires_python: str = ""
    pinned_python: str = ""
    read_from: tuple[str, ...] = ()
    required: frozenset[str] = frozenset({"pytest"})
    optional: frozenset[str] = frozenset()
    newest: str = ""
    overrides: tuple[str, ...] = ()
    of_candidate: frozenset[str] = frozenset()
    needed: bool = True

    @property
    def how(self) -> str:
        """The names of the files that determined the plan."""
        return ", ".join(self.read_from) or "nothing declared"

    def with_roots(self, requirements: Sequence[str]) -> "EnvironmentPlan":
        """Return a copy of the plan that also installs these requirements of the candidate."""
        if not requirements:
            return self
        more = "".join(f"{each}\n" for each in requirements)
        files = {**self.files, ROOTS: self.files.get(ROOTS, "") + more}
        return replace(
            self, files=files, of_candidate=self.of_candidate | names_in(requirements), needed=True
        )

    def with_overrides(self, requirements: Sequence[str]) -> "EnvironmentPlan":
        """Return a copy of the plan in which requirements of the candidate replace others."""
        if not requirements:
            return self
        chosen = self.of_candidate | names_in(requirements)
        return replace(self, overrides=tuple(requirements), of_candidate=chosen, needed=True)

    def digest(self, *more: str) -> str:
        """Return the key of the environment. `more` holds further values that determine it."""
        wheel = self.project.digest() if self.project else ""
        content = [RECIPE, dict(sorted(self.files.items())), self.install, self.constraints, self.export]
        content += [self.newest, *([self.overrides] if self.overrides else [])]
        content += [sorted(self.of_candidate)] if self.of_candidate else []
        content += [[each.digest() for each in self.members.values()]] if self.members else []
        return hashlib.sha256(json.dumps([*content, wheel, more]).encode()).hexdigest()[:32]


def plan_for(tree: Path | None) -> EnvironmentPlan:
    """Decide what the tests of a tree need.

    A lock alone decides: uv.lock, else pylock.toml. Without a lock these count: pyproject.toml, setup.cfg,
    setup.py, requirements.txt, and what they or requirement files list for tests (or else for development).
    Requirements of other extras are added if test files import them, and all packages of types, and what
    other projects in the tree need. Then another tool's lock sets versions.

    Raises:
        DeclarationError: one of these files cannot be read.
    """
    if tree is None:
        return EnvironmentPlan(files={ROOTS: f"{TEST_RUNNER}\n"}, install=(ROOTS,), needed=False)
    asked = wanted(tree)
    project = project_of(tree, asked.requirements, asked.extras)
    name = project.name if project else ""
    roots, files = declared_roots(tree, asked, name)
    optional = commanded_requirements(tree, asked, name, names_in(roots))
    optional += developed_requirements(tree, asked, names_in([*roots, *optional]))
    others = metadata_of(tree, projects_beside(tree), project)
    # The tree's own code is judged, so no release of it is installed.
    in_tree = {normal(each.name) for each in others.values()}
    roots = [*roots, *optional, *requirements_of(tree, others)]
    roots = [each for each in dict.fromkeys(roots) if names_in([each]).isdisjoint(in_tree)]
    stubs = [each for each in stub_requirements(tree, asked) if names_in([each]).isdisjoint(names_in(roots))]
    needed = bool(names_in(roots) - {"pytest"}) or any(
        _asks_for_something(text) for text in files.texts.values()
    )
    required = frozenset({"pytest", *names_in(asked.requirements)})
    common = EnvironmentPlan(
        files={},
        install=(),
        project=project,
        members=others,
        requires_python=requires_python(tree) or _required_by_all(others.values()),
        pinned_python=_pinned_python(tree),
        required=required,
        optional=frozenset(names_in([*optional, *stubs, *asked.for_documentation()])) - required,
        needed=needed or _is_found_by_metadata(tree, [*([project] if project else []), *others.values()]),
    )
    return (
        _from_uv_lock(tree, asked, common, stubs)
        or _from_pylock(tree, common)
        or _unlocked(tree, asked, common, [*roots, *stubs], files)
    )


def _is_found_by_metadata(tree: Path, projects: Sequence[ProjectMetadata]) -> bool:
    """Return True if code or tests need the metadata of projects: they look it up, or one is a plug-in."""
    plugs_in = any(_PLUGINS_OF_PYTEST in each.entry_points for each in projects)
    return bool(projects) and (plugs_in or asks_for_metadata(tree))


def _unlocked(
    tree: Path, asked: Wanted, common: EnvironmentPlan, roots: Sequence[str], files: RequirementFiles
) -> EnvironmentPlan:
    constraints = locked_versions(tree)
    # Tests may import packages that only an extra brings along, and the lock has all of them.
    imported = imported_by_tests(tree) if constraints else frozenset[str]()
    roots = list(dict.fromkeys((*roots, *sorted(names_in(constraints) & imported - names_in(roots)))))
    content = {**files.texts, ROOTS: "".join(f"{each}\n" for each in (*roots, TEST_RUNNER))}
    if constraints:
        content[CONSTRAINTS] = "".join(f"{each}\n" for each in constraints)
    return replace(
        common,
        files=content,
        install=(ROOTS, *files.outermost()),
        constraints=(CONSTRAINTS,) if constraints else (),
        newest="" if constraints else month_after(origin_of(tree).committed),
        read_from=(*asked.read_from, *files.texts, *([version_lock(tree)] if constraints else [])),
    )


def _from_uv_lock(
    tree: Path, asked: Wanted, common: EnvironmentPlan, stubs: Sequence[str]
) -> EnvironmentPlan | None:
    lock, document = read_text(tree, "uv.lock"), read_text(tree, "pyproject.toml")
    if lock is None or document is None:
        return None
    content = read_toml(tree, "pyproject.toml")
    groups = list(table(content, "dependency-groups"))
    if table(content, "tool", "uv").get("dev-dependencies") and "dev" not in groups:
        groups.append("dev")
    extras = list(table(content, "project", "optional-dependencies"))
    chosen_groups = choose_groups(groups, lambda name: asked.groups.get(name, ()))
    wanted_groups = list(dict.fromkeys([*chosen_groups, *default_groups(content, groups)]))
    locked = locked_groups(read_toml(tree, "uv.lock"))
    # An outdated lock does not contain newer groups.
    unlocked = [] if locked is None else [each for each in wanted_groups if normal(each) not in locked]
    more = [line for name in unlocked for line in asked.groups.get(name, ())]
    chosen = ["--no-default-groups"]
    chosen += [f"--group={each}" for each in wanted_groups if each not in unlocked]
    # Extras that exclude each other often have the same packages.
    excluding = excluding_extras(content)
    free = [each for each in extras if normal(each) not in excluding]
    imported = imported_by_tests(tree) if free else frozenset[str]()
    wanted_extras = [
        *choose(extras, asked.extra_requirements),
        *tox_extras(tree, asked),
        # Tests of an extra's features import its packages.
        *(each for each in free if imported.intersection(names_in(asked.extra_requirements(each)))),
        *(each for each in commanded_extras(tree, asked.extras) if normal(each) not in excluding),
    ]
    # uv refuses names that its lock does not have, such as those of setup.py's `tests_require`.
    known = set(map(normal, extras))
    chosen += [f"--extra={each}" for each in dict.fromkeys(wanted_extras) if normal(each) in known]
    names = [f"{each.relative_to(tree).as_posix()}/pyproject.toml" for each in members(tree, content)]
    of_members = {name: text for name in names if (text := read_text(tree, name)) is not None}
    return replace(
        common,
        files={
            **of_members,
            "uv.lock": lock,
            "pyproject.toml": document,
            ROOTS: "".join(f"{each}\n" for each in (TEST_RUNNER, *more, *stubs)),
        },
        install=(LOCKED, ROOTS),
        export=tuple(chosen),
        read_from=("uv.lock",),
    )


def _from_pylock(tree: Path, common: EnvironmentPlan) -> EnvironmentPlan | None:
    lock = read_text(tree, PYLOCK)
    if lock is None:
        return None
    read_toml(tree, PYLOCK)
    return replace(
        common,
        files={PYLOCK: lock, ROOTS: f"{TEST_RUNNER}\n"},
        install=(PYLOCK, ROOTS),
        read_from=(PYLOCK,),
        needed=True,
    )


def _required_by_all(projects: Iterable[ProjectMetadata]) -> str:
    """Return the version specifiers for Python that all of these state together."""
    return ",".join(dict.fromkeys(each.requires_python for each in projects if each.requires_python))


def _asks_for_something(text: str) -> bool:
    lines = [line for line in text.splitlines() if not line.startswith(("-r", "-c", "--"))]
    return any(not names_in([line]) or names_in([line]) - {"pytest"} for line in lines)


def _pinned_python(tree: Path) -> str:
    lines = [line.split("#")[0].strip() for line in texts(read_text(tree, ".python-version") or "")]
    pinned = next((line.removeprefix("cpython-").removeprefix("cpython@") for line in lines if line), "")
    return pinned if re.fullmatch(r"3(\.\d+){0,2}", pinned) else ""
