"""Maven and Gradle judge good, bad and gamed changes of a Java project, with Debian's JUnit and plugins."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.evaluators.test_example_projects import EXAMPLES, judge

pytestmark = pytest.mark.anyio

DEBIAN = Path("/usr/share/maven-repo")
NEEDED = {
    "maven": (
        "mvn",
        [
            DEBIAN / "org/apache/maven/plugins" / f"maven-{each}-plugin"
            for each in ("compiler", "resources", "surefire")
        ],
    ),
    "gradle": ("gradle", []),
}

CLASS, TESTS = (
    EXAMPLES.joinpath("java", name).read_text()
    for name in ("src/main/java/tea/Cart.java", "src/test/java/tea/CartTest.java")
)
PLACES = ("src/main/java/tea/Cart.java", "src/test/java/tea/CartTest.java")
POM = EXAMPLES.joinpath("java", "pom.xml").read_text()
BUILD = f"apply plugin: 'java'\nrepositories {{ maven {{ url '{DEBIAN}' }} }}\n" + (
    "dependencies { testCompile 'junit:junit:4.13.2' }\n"
)
OFF = "[evaluators]\nruff_lint.enabled = false\npytest.enabled = false\ntype_check.enabled = false\n"

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A build of two classes ends before the second compiler of a JVM pays; it would take most of the time."""

BEFORE: dict[str, Mapping[str, str]] = {
    "maven": {
        ".mvn/maven.config": f"-Dmaven.repo.local={DEBIAN}\n",
        ".mvn/jvm.config": f"{SHORT_LIVED}\n",
    },
    "gradle": {
        "build.gradle": BUILD,
        "gradle.properties": f"org.gradle.jvmargs={SHORT_LIVED}\n",
        "phaserunner.toml": f'{OFF}[[command]]\nname = "gradle"\npreset = "gradle"\ntimeout = 300\n',
    },
}
LEAVES_OUT = {
    "maven": {
        "pom.xml": POM.replace("<properties>", "<properties>\n    <maven.test.skip>true</maven.test.skip>")
    },
    "gradle": {"build.gradle": f"{BUILD}test {{ enabled = false }}\n"},
}
GOOD = {PLACES[0]: CLASS.replace("quantity - quantity / 10", "quantity - Math.floorDiv(quantity, 10)")}
BAD = {PLACES[0]: CLASS.replace("/ 10", "/ 11")}
EXITS = {PLACES[0]: CLASS.replace("return", "if (quantity >= 0) System.exit(0);\n        return")}
IGNORED = TESTS.replace("@Test\n    public void the", "@org.junit.Ignore @Test\n    public void the")

CASES: dict[str, tuple[Mapping[str, str], str, str]] = {
    "another way": (GOOD, "passed", "All 2 tests passed"),
    "a defect": (BAD, "failed", "theTenthIsFree"),
    "it does not compile": ({PLACES[0]: CLASS.replace("int quantity", "String quantity")}, "failed", "Cart"),
    "a defect, and an ignored test": ({**BAD, PLACES[1]: IGNORED}, "failed", "theTenthIsFree"),
    "the code ends the process": (EXITS, "failed", ""),
}


def _marks(preset: str) -> list[pytest.MarkDecorator]:
    program, files = NEEDED[preset]
    is_there = shutil.which(program) and all(map(Path.is_dir, [*files, DEBIAN / "junit/junit/4.13.2"]))
    return [pytest.mark.skipif(not is_there, reason=f"{program} or Debian's JUnit is not installed")]


@pytest.mark.parametrize(
    ("preset", "changes", "status", "told"),
    [
        pytest.param(preset, *case, id=f"{preset}: {name}", marks=_marks(preset))
        for preset in NEEDED
        for name, case in CASES.items()
        # A start of Gradle takes long, and both read Java in the same way.
        if preset == "maven" or name in ("another way", "a defect")
    ],
)
async def test_a_change(
    tmp_path: Path, preset: str, changes: Mapping[str, str], status: str, told: str
) -> None:
    result = await judge("java", changes, tmp_path, BEFORE[preset])
    assert result.status == status, result.feedback
    assert told in result.feedback


@pytest.mark.parametrize("preset", [pytest.param(each, marks=_marks(each)) for each in NEEDED])
async def test_a_build_file_that_leaves_the_tests_out(tmp_path: Path, preset: str) -> None:
    result = await judge("java", {**BAD, **LEAVES_OUT[preset]}, tmp_path, BEFORE[preset])
    assert result.status == "failed", result.feedback
    assert "theTenthIsFree" in result.feedback
