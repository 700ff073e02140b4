"""What a project's `phaserunner.toml` may say: which evaluators judge it, and how."""

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import Phase
from app.schemas.text import TestGlob

PROJECT_FILE = "phaserunner.toml"
"""Its name, at the root of a project."""


class ProjectFileMode(StrEnum):
    """`HONOUR`: a project's file counts. `IGNORE`: the operator's evaluators alone judge."""

    HONOUR = "honour"
    IGNORE = "ignore"


MAX_SECONDS = 3600.0
MAX_COMMANDS = 32

CategoryName = Literal[
    "functionality",
    "correctness",
    "completeness",
    "security",
    "performance",
    "maintainability",
    "compliance",
    "documentation",
    "testing",
    "test_coverage",
]

_OWN_VARIABLES = frozenset({"PATH", "HOME", "TMPDIR", "PHASERUNNER_BASE"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or "\\" in value:
        raise ValueError("must be a path below the project's root, with / between its parts")
    if not value.isprintable():
        raise ValueError("must not hold control characters")
    return value


def _file_inside(value: str) -> str:
    if not PurePosixPath(_inside(value)).parts:
        raise ValueError("must name a file")
    return value


def _argument(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not hold a NUL character")
    return value


def _pattern(value: str) -> str:
    try:
        groups = re.compile(value).groupindex
    except re.error as error:
        raise ValueError(f"must be a regular expression: {error}") from error
    missing = [each for each in ("file", "line", "message") if each not in groups]
    if missing:
        raise ValueError(f"must have the named group {missing[0]}")
    return value


def _environment(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of an environment variable")
        if name in _OWN_VARIABLES:
            raise ValueError(f"{name} is set by PhaseRunner")
        _argument(text)
    return value


Directory = Annotated[str, Field(max_length=1000), AfterValidator(_inside)]
FilePath = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_file_inside)]
Glob = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_file_inside)]
Argument = Annotated[str, AfterValidator(_argument)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS)]
Phases = Annotated[list[Annotated[Phase, Field(strict=False)]], Field(min_length=1)]
UnitInterval = Annotated[float, Field(ge=0, le=1)]


class _Table(BaseModel):
    """A table of the file: no other keys, no value of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class JUnitReport(_Table):
    """JUnit XML: every test case must have run and passed, as the exit status must say, too."""

    kind: Literal["junit"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class SarifReport(_Table):
    """SARIF 2.1: findings count when the base commit does not have them."""

    kind: Literal["sarif"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    level: Literal["note", "warning", "error"] = Field(
        default="warning", description="The mildest level that counts."
    )


class CoverageReport(_Table):
    """Cobertura XML: of the executable lines that are new against base, enough must have been executed."""

    kind: Literal["coverage"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    minimum: float = Field(ge=0, le=100, description="Percent of the new lines.")


class OutputReport(_Table):
    """Tests in what the command prints: `go test -json`, or what the harness of Rust's tests says."""

    kind: Literal["go-test", "libtest"]
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class JestReport(_Table):
    """Tests in the JSON that jest writes, and vitest with its reporter `json`."""

    kind: Literal["jest"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class LinesReport(_Table):
    """Findings in the lines that the command prints; they count when the base commit does not have them."""

    kind: Literal["lines"]
    pattern: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern)] = Field(
        description="A regular expression with the groups file, line and message, and perhaps rule."
    )


class EslintReport(_Table):
    """Findings in the JSON that eslint writes; they count when the base commit does not have them."""

    kind: Literal["eslint"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")


TestsReport = JUnitReport | OutputReport | JestReport
FindingsReport = SarifReport | LinesReport | EslintReport
Report = Annotated[TestsReport | FindingsReport | CoverageReport, Field(discriminator="kind")]

PresetName = Literal[
    "node-test",
    "vitest",
    "jest",
    "mocha",
    "go-test",
    "cargo-test",
    "nextest",
    "gradle",
    "maven",
    "eslint",
    "tsc",
    "go-vet",
    "clippy",
]


class CommandTable(_Table):
    """A command that evaluates the project. It runs in the sandbox, on a separate copy."""

    name: Name = Field(description="Unique among the evaluators of a phase.")
    preset: PresetName | None = Field(
        default=None, description="A known test runner or checker; what else is given goes before it."
    )
    run: (
        Annotated[str, Field(min_length=1), AfterValidator(_argument)]
        | Annotated[list[Argument], Field(min_length=1)]
        | None
    ) = Field(default=None, description="Program and arguments; a single string is run by `sh -c`.")
    category: CategoryName | None = Field(default=None, description="Default: the preset's, or testing.")
    report: Report | None = Field(default=None, description="Without one the exit status alone decides.")
    phases: Phases = [Phase.CODING, Phase.VERIFICATION]
    gate: bool = Field(default=True, description="Gates decide; the others advise.")
    timeout: Seconds = Field(default=120.0, description="Seconds for one run.")
    network: bool = Field(default=False, description="Needs the operator's leave.")
    env: Annotated[dict[str, str], AfterValidator(_environment)] = {}
    working_directory: Directory = Field(default="", description="Below the project's root.")
    pass_codes: list[Annotated[int, Field(ge=0, le=255)]] | None = Field(
        default=None, min_length=1, description="Default: 0; for SARIF 0 and 1."
    )

    @model_validator(mode="after")
    def _runs(self) -> Self:
        if self.run is None and self.preset is None:
            raise ValueError("needs run or preset")
        return self


class EvaluatorTable(_Table):
    """What is different for one evaluator; what is not given stays as the operator set it."""

    enabled: bool = True
    gate: bool | None = None
    phases: Phases | None = None
    timeout: Seconds | None = None
    options: dict[str, Any] = Field(
        default={}, description="The evaluator's own; its documentation names them."
    )


class ProtectedTable(_Table):
    """Globs of files that are taken from the base commit when an attempt is judged."""

    open: list[Glob] = Field(default=[], description="May be changed, though they would be protected.")
    extra: list[Glob] = Field(default=[], description="Protected beside tests and configuration.")
    policy: Annotated[ProtectedPolicy, Field(strict=False)] | None = Field(
        default=None, description="What becomes of changes: fail, ask a human, or note."
    )


class TestsTable(_Table):
    """How the base's tests count."""

    __test__ = False

    base_failures: Annotated[BaseFailures, Field(strict=False)] | None = Field(
        default=None, description="Which tests that fail at the base commit count: goal, must_pass or ignore."
    )
    goal: list[TestGlob] = Field(
        default=[], max_length=50, description="Globs of ids of failing tests that sprints are to make pass."
    )


class VerdictTable(_Table):
    """Thresholds; each only makes the verdict stricter than the operator and the sprint have it."""

    pass_threshold: UnitInterval | None = Field(
        default=None, description="Mean score that the gates must reach."
    )


class ProjectFile(_Table):
    """A project's `phaserunner.toml`."""

    model_config = ConfigDict(
        title=PROJECT_FILE,
        json_schema_extra={"$schema": "https://json-schema.org/draft/2020-12/schema"},
    )

    evaluators: dict[str, EvaluatorTable] = {}
    command: list[CommandTable] = Field(default=[], max_length=MAX_COMMANDS)
    protected: ProtectedTable = ProtectedTable()
    tests: TestsTable = TestsTable()
    verdict: VerdictTable = VerdictTable()
