"""Names of more than 255 bytes, which no file can have, are names of files that are not there."""

from pathlib import Path

from app.runners.evaluators.commands.coverage import read_coverage
from app.runners.evaluators.commands.line_findings import read_lines
from app.runners.evaluators.source_places import source_places
from app.workspaces.environments.django import settings_of

LONG = "x" * 300


def test_a_long_directory_of_tox_is_none(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "tox.ini").write_text(f"[testenv]\nsetenv =\n  PYTHONPATH = {LONG}:lib\n")
    assert source_places(tmp_path) == ("lib",)


def test_long_settings_of_django_are_none(tmp_path: Path) -> None:
    (tmp_path / "site.py").touch()
    text = (
        f"DJANGO_SETTINGS_MODULE = {LONG}\nDJANGO_SETTINGS_MODULE = {LONG}.a\nDJANGO_SETTINGS_MODULE = site\n"
    )
    (tmp_path / "tox.ini").write_text(text)
    assert settings_of(tmp_path) == ("site", "")


def test_a_report_on_coverage_may_name_a_long_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    classes = "".join(
        f'<class filename="{name}"><lines><line number="1" hits="1"/></lines></class>'
        for name in (LONG, f"{LONG}/b.py", "a.py")
    )
    report = f"<coverage>{classes}</coverage>".encode()
    assert read_coverage(report, Path("/somewhere"), tmp_path) == {"a.py": {1: True}}


def test_a_checker_may_name_a_long_file(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    pattern = r"(?P<file>\S+):(?P<line>\d+): (?P<message>.*)"
    found = read_lines(f"{LONG}:1: bad", tmp_path, pattern, directory="api")
    assert [each.file for each in found.findings] == [LONG]
