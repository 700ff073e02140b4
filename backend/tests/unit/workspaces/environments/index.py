"""A directory of wheels that serves as an index: tiny ones made here, and pytest as it is installed."""

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def make_wheel(
    index: Path, name: str, version: str, files: Mapping[str, str] | None = None, requires: Iterable[str] = ()
) -> Path:
    """Write a wheel with these modules; without any it has one of its own name."""
    about = f"{name}-{version}.dist-info"
    content = {
        each: text.encode() for each, text in (files or {f"{name}.py": f"VERSION = '{version}'\n"}).items()
    }
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    content[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}".encode()
    )
    content[f"{about}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    return _write(index / f"{name}-{version}-py3-none-any.whl", about, content)


def add_pytest(index: Path) -> None:
    """Make wheels of the pytest that runs these tests, and of what it needs."""
    for name in PYTEST:
        found = distribution(name)
        content = {
            str(each): Path(str(found.locate_file(each))).read_bytes()
            for each in found.files or ()
            if not str(each).startswith("..") and not str(each).endswith((".pyc", "RECORD", "INSTALLER"))
        }
        about = next(each.split("/")[0] for each in content if ".dist-info/" in each)
        _write(index / f"{name}-{found.version}-py3-none-any.whl", about, content)


def _write(path: Path, about: str, content: Mapping[str, bytes]) -> Path:
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in content.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
        archive.writestr(f"{about}/RECORD", "\n".join([*lines, f"{about}/RECORD,,"]) + "\n")
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
