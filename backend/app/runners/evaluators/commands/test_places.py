"""Recognises tests of any language by their path. Pure."""

import posixpath
import re

_NAME = re.compile(
    r".*\.(?:test|spec)\..*"
    r"|.*_(?:tests?|spec|unittest)\..*"
    r"|test_.*\..*"
    # Names by which node, jest, mocha and ava find tests without a directory for them.
    r"|(?:tests?|spec|test-.*|.*-(?:test|spec))\.[cm]?[jt]sx?"
    r"|tests?\.rs"
    r"|.*(?:Test|Tests|TestCase|IT)\.(?:java|kts?|scala|groovy)"
    r"|.*Spec\.(?:kts?|scala|groovy)"
    r"|.*(?:Test|Tests)\.(?:cs|fs|vb|swift|php)",
    re.DOTALL,
)
_DIRECTORY = re.compile(
    r"(?i:tests?|__tests__|specs?|testdata|__snapshots__|testfixtures)"
    # Gradle's source sets, and projects of .NET.
    r"|(?:android|common|functional|integration|ios|js|jvm|native|unit)Test"
    r"|.*\.(?:\w*Tests?)"
)
_PRODUCT = re.compile(r"(?:.*/)?src/main/(?:java|kotlin|scala|groovy)/.*", re.DOTALL)
_JVM = (".java", ".kt", ".kts", ".scala", ".groovy")


def is_of_tests(name: str) -> bool:
    """Return True if a file (POSIX path) is a test by its name, or belongs to tests by its directory."""
    if name.endswith(_JVM) and _PRODUCT.fullmatch(name):
        return False
    *directories, base = name.split("/")
    return _NAME.fullmatch(posixpath.basename(base)) is not None or any(
        map(_DIRECTORY.fullmatch, directories)
    )
