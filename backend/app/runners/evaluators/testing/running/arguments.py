"""Makes the arguments with which pytest runs the tests of a tree."""

from pathlib import Path

from app.runners.evaluators.testing.layout.config import PytestSettings
from app.runners.evaluators.testing.layout.doctests import fixtures_of_doctests
from app.runners.evaluators.testing.layout.namespaces import are_in_namespaces
from app.runners.evaluators.testing.layout.setting import is_test_support
from app.runners.evaluators.testing.layout.trees import RunTree

_FIXED = (
    *("-o", "addopts=", "--color=no", "-q", "-rfE"),
    *("--no-header", "--continue-on-collection-errors"),
    # A configuration also sets options of plug-ins that this run does without. Pytest warns of them, and many
    # projects turn warnings into errors, or ask for one in this case.
    *("-W", "ignore:Unknown config option:pytest.PytestConfigWarning", "-o", "strict_config=false"),
)
_WITH_NAMESPACES = "--override-ini=consider_namespace_packages=true"


def pytest_arguments(tree: RunTree, copy: Path, settings: PytestSettings, given: Path) -> list[str]:
    """Return the arguments for a run of `tree` in `copy`. The configuration is written to `given`."""
    # A copy of the configuration: it must be visible, and keep its name, which determines its format.
    config = given / (settings.config_file.name if settings.config_file else "pytest.ini")
    config.write_bytes(settings.config_file.read_bytes() if settings.config_file else b"[pytest]\n")
    # Some plug-ins need pytest's cache. Here it is empty, and beside the tree.
    places = [f"--rootdir={copy}", f"--confcutdir={copy}", "-o", f"cache_dir={copy.parent / 'pytest-cache'}"]
    in_namespaces = are_in_namespaces(tree.files, settings.test_files, settings.import_places)
    namespaces = [_WITH_NAMESPACES] if in_namespaces else []
    return [f"-c{config}", *places, *_FIXED, *namespaces, *settings.arguments]


def plugin_sources(tree: RunTree, copy: Path, settings: PytestSettings, given: Path) -> list[str]:
    """Return the files that show which plug-ins a run needs."""
    names = [
        str(copy / name)
        for name in tree.files
        if name.endswith(".py") and is_test_support(name, settings.test_files)
    ]
    if settings.has_doctests:
        fixtures = given / "fixtures-of-doctests"
        fixtures.write_text("\n".join(fixtures_of_doctests(copy, tree.files)))
        names.append(str(fixtures))
    if settings.own:
        own = given / "own-options"
        own.write_text("\n".join(settings.own))
        names.append(str(own))
    # The run cannot see the base itself, but it can see the copy of its configuration.
    return [str(given / settings.config_file.name), *names] if settings.config_file else names
