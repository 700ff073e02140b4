"""The content of a project's `phaserunner.toml`: which evaluators judge it, and how."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from app.schemas.held_out import Share
from app.schemas.project_environment import EnvironmentTable
from app.schemas.project_values import (
    Argument,
    Directory,
    FilePath,
    Glob,
    Name,
    Phases,
    Seconds,
    SecretNames,
    Table,
    UnitInterval,
    argument,
    variables,
)
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import Phase
from app.schemas.text import TestGlob

PROJECT_FILE = "phaserunner.toml"
"""The name of the project file, at the root of a project."""


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

Mode = Literal["enforce", "observe"]
"""Whether a project's gates decide, or are only observed."""

_OBSERVE = "Whether the gate is evaluated and counted but blocks nothing. Default: as the file's `mode` says."


def _pattern(value: str) -> str:
    try:
        groups = re.compile(value).groupindex
    except re.error as error:
        raise ValueError(f"must be a regular expression: {error}") from error
    missing = [each for each in ("file", "line", "message") if each not in groups]
    if missing:
        raise ValueError(f"must have the named group {missing[0]}")
    return value


class JUnitReport(Table):
    """JUnit XML: every test case must have run and passed, and the exit status must agree."""

    kind: Literal["junit"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class SarifReport(Table):
    """SARIF 2.1: findings count if the base commit does not have them."""

    kind: Literal["sarif"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    level: Literal["note", "warning", "error"] = Field(
        default="warning", description="The mildest level that counts."
    )


class CoverageReport(Table):
    """Cobertura XML: enough of the executable lines that are new since base must have been executed."""

    kind: Literal["coverage"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    minimum: float = Field(ge=0, le=100, description="Percent of the new lines.")


class OutputReport(Table):
    """Tests in the command's output: `go test -json`, or the output of Rust's test harness."""

    kind: Literal["go-test", "libtest"]
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class JestReport(Table):
    """Tests in the JSON that jest writes, or vitest with its reporter `json`."""

    kind: Literal["jest"]
    path: FilePath = Field(description="The file that the command writes, below the project's root.")
    compare_base: bool = Field(
        default=True, description="Whether tests that ran at the base commit must still run."
    )


class LinesReport(Table):
    """Findings in the lines of the command's output; they count if the base commit does not have them."""

    kind: Literal["lines"]
    pattern: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_pattern)] = Field(
        description="A regular expression with the groups file, line and message, and perhaps rule."
    )


class EslintReport(Table):
    """Findings in the JSON that eslint writes; they count if the base commit does not have them."""

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


_ADVISER_OBSERVED = "observe needs a gate: an adviser (gate = false) blocks nothing anyway"


class CommandTable(Table):
    """A command that evaluates the project. It runs in the sandbox, on a separate copy."""

    name: Name = Field(description="Unique among the evaluators of a phase.")
    preset: PresetName | None = Field(
        default=None, description="A known test runner or checker; other keys override it."
    )
    run: (
        Annotated[str, Field(min_length=1), AfterValidator(argument)]
        | Annotated[list[Argument], Field(min_length=1)]
        | None
    ) = Field(default=None, description="Program and arguments; a single string is run by `sh -c`.")
    category: CategoryName | None = Field(default=None, description="Default: the preset's, or testing.")
    report: Report | None = Field(default=None, description="Without one the exit status alone decides.")
    phases: Phases = Field(default=[Phase.CODING, Phase.VERIFICATION])
    gate: bool = Field(default=True, description="Gates decide; the others advise.")
    observe: bool | None = Field(default=None, description=_OBSERVE)
    timeout: Seconds = Field(default=120.0, description="Seconds for one run.")
    network: bool = Field(default=False, description="The operator must allow it.")
    env: Annotated[dict[str, str], AfterValidator(variables)] = Field(default={})
    secrets: SecretNames = Field(
        default=[], description="Variables that the operator sets; masked in the command's output."
    )
    working_directory: Directory = Field(default="", description="Below the project's root.")
    pass_codes: list[Annotated[int, Field(ge=0, le=255)]] | None = Field(
        default=None, min_length=1, description="Default: 0; for SARIF 0 and 1."
    )

    @model_validator(mode="after")
    def _runs(self) -> Self:
        if self.run is None and self.preset is None:
            raise ValueError("needs run or preset")
        if self.observe and not self.gate:
            raise ValueError(_ADVISER_OBSERVED)
        return self


class EvaluatorTable(Table):
    """What differs for one evaluator; values that are not given stay as the operator set them."""

    enabled: bool = True
    gate: bool | None = None
    observe: bool | None = Field(default=None, description=_OBSERVE)
    phases: Phases | None = None
    timeout: Seconds | None = None
    directories: list[Directory] = Field(
        default=[],
        max_length=MAX_COMMANDS,
        description="Each is evaluated as a project, and nothing else is. Default: the whole project.",
    )
    options: dict[str, Any] = Field(
        default={}, description="The evaluator's own; its documentation names them."
    )

    @model_validator(mode="after")
    def _observes_a_gate(self) -> Self:
        if self.observe and self.gate is False:
            raise ValueError(_ADVISER_OBSERVED)
        return self


class ProtectedTable(Table):
    """Globs of files that are taken from the base commit when an attempt is judged."""

    open: list[Glob] = Field(default=[], description="May be changed although they are protected by default.")
    extra: list[Glob] = Field(default=[], description="Protected in addition to tests and configuration.")
    policy: Annotated[ProtectedPolicy, Field(strict=False)] | None = Field(
        default=None, description="Effect of changes: fail, ask a person, or note."
    )


class TestsTable(Table):
    """How the base's tests count."""

    __test__ = False

    base_failures: Annotated[BaseFailures, Field(strict=False)] | None = Field(
        default=None, description="Which tests that fail at the base commit count: goal, must_pass or ignore."
    )
    goal: list[TestGlob] = Field(
        default=[], max_length=50, description="Globs of ids of failing tests that sprints should fix."
    )
    known_failures: list[TestGlob] = Field(
        default=[],
        max_length=200,
        description="Globs of ids of tests that are known to fail at the base and may stay like that.",
    )
    held_out_share: Share | None = Field(
        default=None,
        description="The share of cases in the goal's tests that sprints hide from agents, if their request "
        "does not say; 0 hides none.",
    )


class SourceTable(Table):
    """What is fetched in addition to the files of the repository. The base commit's file applies."""

    submodules: bool = Field(default=False, description="Whether the files of git submodules are fetched.")
    lfs: bool = Field(default=False, description="Whether files that are kept in git LFS are fetched.")


class VerdictTable(Table):
    """Thresholds; each can only make the verdict stricter than the operator and the sprint do."""

    pass_threshold: UnitInterval | None = Field(
        default=None, description="Mean score that the gates must reach."
    )


class ProjectFile(Table):
    """A project's `phaserunner.toml`."""

    model_config = ConfigDict(
        title=PROJECT_FILE,
        json_schema_extra={"$schema": "https://json-schema.org/draft/2020-12/schema"},
    )

    mode: Mode = Field(
        default="enforce", description="With `observe`, only gates that the operator requires block."
    )
    evaluators: dict[str, EvaluatorTable] = Field(default={})
    command: list[CommandTable] = Field(default=[], max_length=MAX_COMMANDS)
    environment: EnvironmentTable = EnvironmentTable()
    protected: ProtectedTable = ProtectedTable()
    tests: TestsTable = TestsTable()
    verdict: VerdictTable = VerdictTable()
    source: SourceTable = SourceTable()
