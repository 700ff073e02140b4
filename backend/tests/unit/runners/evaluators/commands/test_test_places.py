"""Which files are tests by their path."""

import pytest

from app.runners.evaluators.commands.test_places import is_of_tests


@pytest.mark.parametrize(
    "name",
    [
        *("a.test.ts", "web/a.spec.js", "a_test.go", "spec/a.rb", "tests/a.py", "__snapshots__/a.snap"),
        *("test.js", "src/test.mjs", "test-parse.ts", "parse-test.js", "spec.cjs"),
        *("src/parser/tests.rs", "src/parser/test.rs", "src/parser_tests.rs", "a_unittest.cc"),
        *(
            "src/test/java/Helper.java",
            "core/PriceTest.java",
            "PriceTests.kt",
            "PriceSpec.groovy",
            "LoginIT.java",
        ),
        *("lib/src/commonTest/kotlin/A.kt", "a/src/testFixtures/java/A.java", "src/androidTest/A.kt"),
        *("Tests/ShopTests/Price.swift", "Shop.Tests/Price.cs", "Shop.UnitTests/a.json", "PriceTest.php"),
    ],
)
def test_tests(name: str) -> None:
    assert is_of_tests(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "a.py",
            "latest.js",
            "contest.ts",
            "src/attest.js",
            "protest/a.js",
            "src/testing.ts",
            "testimonials.tsx",
        ),
        *("src/main/java/org/shop/test/Runner.java", "src/main/kotlin/LoadTest.kt", "OpenApiSpec.java"),
        *("latest/a.cs", "shop.latest/a.cs", "JobSpec.go", "src/audit.java", "manifest.json"),
    ],
)
def test_other_files(name: str) -> None:
    assert not is_of_tests(name)
