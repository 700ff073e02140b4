"""Known test runners and checkers: how each is run and read, and what is taken from the base for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.runners.evaluators.commands.language_setting import LanguageSetting
from app.schemas.project_file import (
    CategoryName,
    EslintReport,
    JestReport,
    JUnitReport,
    LinesReport,
    OutputReport,
    PresetName,
    Report,
)

IN_PROCESS = "Weaker than for Python: tests and code share a process, so code can deceive its test runner."
_RUST_REMARK = f"{IN_PROCESS} Tests in documentation comments are the candidate's."

_HELPERS = ("testutil/*", "*/testutil/*", "testutils/*", "*/testutils/*", "testhelpers/*", "*/testhelpers/*")
_NODE = LanguageSetting(
    protected=("*.snap", "__mocks__/*", "*/__mocks__/*", ".swcrc", ".babelrc*", "babel.config.*", *_HELPERS),
    left_out=("node_modules/.cache/*", "node_modules/.vite/*"),
)
# Assertions of tests, where a project keeps the modules that it uses.
_GO_ASSERTIONS = tuple(
    f"{place}vendor/{module}/*"
    for place in ("", "*/")
    for module in (
        *("github.com/stretchr/testify", "github.com/onsi/gomega", "github.com/onsi/ginkgo"),
        *("github.com/google/go-cmp", "github.com/matryer/is", "github.com/frankban/quicktest"),
        *("gotest.tools", "gopkg.in/check.v1", "go.uber.org/mock", "github.com/golang/mock"),
    )
)
_GO = LanguageSetting(
    protected=("go.work", "go.env", "*.golden", *_HELPERS, *_GO_ASSERTIONS),
    manifests=("go.mod",),
)
_RUST = LanguageSetting(
    protected=(
        *(
            "build.rs",
            "rust-toolchain",
            "rust-toolchain.toml",
            ".cargo/*",
            "*/.cargo/*",
            ".config/nextest.toml",
        ),
        *("*.snap", "benches/*", *_HELPERS),
    ),
    left_out=("target/*", "*/target/*"),
    manifests=("Cargo.toml",),
    inline_tests=True,
)
_JVM = LanguageSetting(
    protected=(
        *("build.gradle", "build.gradle.kts", "settings.gradle*", "gradle.properties", "gradle/*", "gradlew"),
        *("pom.xml", ".mvn/*", "mvnw", "buildSrc/*"),
    ),
    left_out=("build/*", "*/build/*", "target/*", "*/target/*", ".gradle/*"),
)
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_ESLINT = LanguageSetting(
    protected=("eslint.config.*", ".eslintrc*", ".eslintignore"),
    silencers=r"eslint-disable",
    suffixes=_SCRIPTS,
)
_TSC = LanguageSetting(
    protected=("tsconfig*.json",), silencers=r"@ts-(?:ignore|expect-error|nocheck)", suffixes=_SCRIPTS
)
_VET = LanguageSetting(silencers=r"^//go:build ignore|//\s*nolint", suffixes=(".go",))
_CLIPPY = LanguageSetting(
    protected=("clippy.toml", ".clippy.toml", ".cargo/*", "*/.cargo/*"),
    left_out=("target/*", "*/target/*"),
    manifests=("Cargo.toml",),
    lints=True,
    silencers=r"#!?\[\s*(?:cfg_attr\([^)]*,\s*)?(?:allow|expect)\s*\(",
    suffixes=(".rs",),
)

# Frozen assertions cannot be replaced by the code that they judge.
_FROZEN = (
    "data:text/javascript,import%20a%20from%22node:assert%22;import%20s%20from%22node:assert/strict%22;"
    "Object.freeze(a);Object.freeze(s)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How a known tool is run.

    Attributes:
        run: program and arguments, or a line for a shell.
        report: what it writes or prints.
        category: the aspect that it judges.
        pass_codes: exit statuses that indicate a pass; None means those of its report format.
        env: variables for it.
        setting: the files that are taken from the base for it.
        remark: what a pass does not show.
    """

    run: tuple[str, ...] | str = ()
    report: Report | None = None
    category: CategoryName = "testing"
    pass_codes: tuple[int, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    setting: LanguageSetting = field(default_factory=LanguageSetting)
    remark: str = ""


_XML = "phaserunner-tests.xml"
_JSON = "phaserunner-report.json"
_PLACE = r"(?P<file>[^\s:()]+):(?P<line>\d+)(?::\d+)?: "
_GO_ENV = {"GOFLAGS": "", "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOENV": "off"}
# With few cores, Jest runs tests in its own process. The options are not given to that process, so code
# does not find them in `process.argv`. Workers must not inherit `-e`. Jest reads CI=true like `--ci`.
_JEST = (
    'let jest; try { jest = require.resolve("jest/bin/jest") } catch { } '
    'if (!jest) { console.error("Cannot find module jest"); process.exit(1) } '
    "process.argv.splice(1, 1, jest); process.execArgv.splice(0); "
    f'require("jest").run(["--json", "--outputFile={_JSON}"])'
)
# From a package at the root, cargo leaves out the other members of the workspace by default.
_MEMBERS = (
    r"members=; grep -q '^\[package\]' Cargo.toml && grep -q '^\[workspace\]' Cargo.toml "
    "&& ! grep -q '^default-members' Cargo.toml && members=--workspace; "
)
# Settings of a tool count less than the project's, which may name another file for the report. The output of
# tests that pass shows whether they ran to their end.
_NEXTEST = (
    f"{_MEMBERS}"
    """printf '[profile.default.junit]\\npath = "junit.xml"\\nstore-success-output = true\\n' """
    '> "$TMPDIR/nextest.toml" && '
    "cargo nextest run $members --offline --no-fail-fast "
    '--tool-config-file "phaserunner:$TMPDIR/nextest.toml"'
)
_CARGO_ENV = {"CARGO_TERM_COLOR": "never", "RUST_BACKTRACE": "0", "CARGO_INCREMENTAL": "0"}

PRESETS: Mapping[PresetName, Preset] = {
    "node-test": Preset(
        run=(
            *("node", "--import", _FROZEN, "--test"),
            *("--test-reporter=junit", f"--test-reporter-destination={_XML}"),
        ),
        report=JUnitReport(kind="junit", path=_XML),
        setting=_NODE,
        remark=IN_PROCESS,
    ),
    "vitest": Preset(
        run=("npx", "--no-install", "vitest", "run", "--reporter=junit", f"--outputFile={_XML}"),
        report=JUnitReport(kind="junit", path=_XML),
        setting=_NODE,
        remark=IN_PROCESS,
    ),
    "jest": Preset(
        run=("npx", "--no-install", "--call", f"node -e '{_JEST}'"),
        report=JestReport(kind="jest", path=_JSON),
        setting=_NODE,
        remark=IN_PROCESS,
    ),
    "mocha": Preset(
        run=("npx", "--no-install", "mocha", "--reporter", "xunit", "--reporter-option", f"output={_XML}"),
        report=JUnitReport(kind="junit", path=_XML),
        setting=_NODE,
        remark=IN_PROCESS,
    ),
    "go-test": Preset(
        run=("go", "test", "-json", "-count=1", "-vet=off", "./..."),
        report=OutputReport(kind="go-test"),
        env=_GO_ENV,
        setting=_GO,
        remark=IN_PROCESS,
    ),
    "cargo-test": Preset(
        run=f"{_MEMBERS}cargo test $members --offline --no-fail-fast 2>&1",
        report=OutputReport(kind="libtest"),
        env=_CARGO_ENV,
        setting=_RUST,
        remark=_RUST_REMARK,
    ),
    "nextest": Preset(
        run=_NEXTEST,
        report=JUnitReport(kind="junit", path="target/nextest/default/*.xml"),
        env=_CARGO_ENV,
        setting=_RUST,
        remark=_RUST_REMARK,
    ),
    "gradle": Preset(
        run=("gradle", "test", "--offline", "--continue", "--no-daemon"),
        report=JUnitReport(kind="junit", path="**/build/test-results/test/*.xml"),
        setting=_JVM,
        remark=IN_PROCESS,
    ),
    "maven": Preset(
        run=("mvn", "--offline", "--batch-mode", "--fail-at-end", "test"),
        report=JUnitReport(kind="junit", path="**/target/surefire-reports/*.xml"),
        setting=_JVM,
        remark=IN_PROCESS,
    ),
    "eslint": Preset(
        run=("npx", "--no-install", "eslint", "--format", "json", "--output-file", _JSON, "."),
        report=EslintReport(kind="eslint", path=_JSON),
        category="compliance",
        pass_codes=(0, 1),
        setting=_ESLINT,
    ),
    "tsc": Preset(
        run=("npx", "--no-install", "tsc", "--noEmit", "--pretty", "false"),
        report=LinesReport(
            kind="lines",
            pattern=r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+),\d+\): error (?P<rule>TS\d+): (?P<message>.+)$",
        ),
        category="compliance",
        pass_codes=(0, 1, 2),
        setting=_TSC,
    ),
    "go-vet": Preset(
        run=("go", "vet", "./..."),
        report=LinesReport(kind="lines", pattern=rf"^(?:vet: )?{_PLACE}(?P<message>.+)$"),
        category="compliance",
        pass_codes=(0, 1, 2),
        env=_GO_ENV,
        setting=_VET,
    ),
    "clippy": Preset(
        run=f"{_MEMBERS}cargo clippy $members --offline --quiet --message-format short 2>&1",
        report=LinesReport(
            kind="lines", pattern=rf"^{_PLACE}(?P<rule>warning|error(?:\[\w+\])?): (?P<message>.+)$"
        ),
        category="compliance",
        pass_codes=(0, 101),
        env=_CARGO_ENV,
        setting=_CLIPPY,
    ),
}
