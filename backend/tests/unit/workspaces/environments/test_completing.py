"""What an environment lacks of what every environment once had."""

from pathlib import Path

import pytest

from app.workspaces.environments.completing import lacks_pkg_resources

IMPORTS = "import os\nimport pkg_resources\n"


@pytest.mark.parametrize(
    ("files", "locked", "lacks"),
    [
        pytest.param({"old.py": IMPORTS}, False, True, id="a package imports it"),
        pytest.param(
            {"old.py": IMPORTS, "setuptools/__init__.py": ""}, False, True, id="setuptools without it"
        ),
        pytest.param(
            {"old.py": IMPORTS, "setuptools/__init__.py": ""}, True, False, id="a locked setuptools"
        ),
        pytest.param({"old.py": IMPORTS}, True, True, id="a lock without setuptools"),
        pytest.param({"old.py": IMPORTS, "pkg_resources/__init__.py": ""}, False, False, id="it is there"),
        pytest.param({"_pytest/monkeypatch.py": IMPORTS}, False, False, id="pytest does without"),
        pytest.param({"old.py": "NAME = 'pkg_resources'\n"}, False, False, id="no import"),
    ],
)
def test_which_environments_lack_pkg_resources(
    tmp_path: Path, files: dict[str, str], locked: bool, lacks: bool
) -> None:
    site = tmp_path / "lib/python3.11/site-packages"
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    assert lacks_pkg_resources(tmp_path, locked) is lacks
