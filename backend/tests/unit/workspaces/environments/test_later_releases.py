"""Releases of one time that do not work together are replaced by somewhat later ones."""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from uv import find_uv_bin

from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.installing import Installer
from app.workspaces.environments.interpreters import WorkspaceEnvironments
from app.workspaces.environments.launches import InstallOptions
from app.workspaces.environments.outcome import EnvironmentOutcome, Ready
from app.workspaces.environments.shelf import Shelf
from app.workspaces.files.origin import TreeOrigin, months_later, write_origin
from tests.unit.workspaces.environments.index import add_pytest, make_wheel

pytestmark = pytest.mark.anyio

BREAKS = "def pytest_collectstart(collector):\n    raise AttributeError('Package has no obj')\n"
WORKS = "def pytest_collectstart(collector):\n    pass\n"
RELEASED = {"1.0": "2024-01-15T00:00:00Z", "2.0": "2024-03-10T00:00:00Z", "3.0": "2025-06-01T00:00:00Z"}
LONG_AGO = "2020-01-01T00:00:00Z"


class _Index(BaseHTTPRequestHandler):
    """Serves wheels with the time of their upload."""

    def __init__(self, wheels: Path, *arguments: object) -> None:
        self._wheels = wheels
        super().__init__(*arguments)  # type: ignore[arg-type]  # what the server passes

    def do_GET(self) -> None:
        name = self.path.strip("/").rpartition("/")[2]
        wheel = self._wheels / name
        if wheel.is_file():
            self._answer("application/octet-stream", wheel.read_bytes())
            return
        files = [
            {
                "filename": path.name,
                "url": f"/files/{path.name}",
                "hashes": {},
                "upload-time": _uploaded(path),
            }
            for path in sorted(self._wheels.glob(f"{name.replace('-', '_')}-*.whl"))
        ]
        page = {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": files}
        self._answer("application/vnd.pypi.simple.v1+json", json.dumps(page).encode())

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _uploaded(wheel: Path) -> str:
    version = wheel.name.split("-")[1]
    return RELEASED[version] if wheel.name.startswith(("pytest_early", "latecomer")) else LONG_AGO


def _plugin(wheels: Path, version: str, code: str) -> None:
    about = f"pytest_early-{version}.dist-info"
    files = {"pytest_early.py": code, f"{about}/entry_points.txt": "[pytest11]\nearly = pytest_early\n"}
    make_wheel(wheels, "pytest_early", version, files)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    place = tmp_path / "wheels"
    place.mkdir()
    add_pytest(place)
    return place


@pytest.fixture
def address(wheels: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Index, wheels)) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()
        serving.join()


@pytest.fixture
def environments(tmp_path: Path, address: str) -> WorkspaceEnvironments:
    options = InstallOptions(env={"UV_DEFAULT_INDEX": address})
    installer = Installer(Path(find_uv_bin()), Sandbox(), tmp_path / "uv-cache", options)
    search = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    return WorkspaceEnvironments(Shelf(tmp_path / "environments"), installer, search)


def _base(tree: Path) -> Path:
    """Write a base of January 2024 that asks for the plug-in."""
    tree.mkdir()
    (tree / "requirements.txt").write_text("pytest\npytest-early\n")
    write_origin(tree, TreeOrigin(committed=int(datetime(2024, 1, 20, tzinfo=UTC).timestamp())))
    return tree


def _installed(found: EnvironmentOutcome) -> str:
    """Return the version of the plug-in."""
    assert isinstance(found, Ready), found
    (about,) = found.python.parents[1].glob("lib/python*/site-packages/pytest_early-*.dist-info")
    return about.name.split("-")[1].removesuffix(".dist")


@pytest.mark.parametrize(
    "breaks", [BREAKS, "raise TypeError('wrapper')\n"], ids=["at a test", "at the start"]
)
@pytest.mark.parametrize(
    ("broken", "version"),
    [((), "1.0"), (("1.0",), "2.0"), (("1.0", "2.0"), "3.0")],
    ids=["those of its time work", "a later one works", "only today's works"],
)
async def test_a_base_gets_the_first_releases_that_work_together(
    tmp_path: Path,
    wheels: Path,
    environments: WorkspaceEnvironments,
    broken: tuple[str, ...],
    version: str,
    breaks: str,
) -> None:
    for each in RELEASED:
        _plugin(wheels, each, breaks if each in broken else WORKS)
    async with environments.lent(_base(tmp_path / "base")) as found:
        assert _installed(found) == version


async def test_one_requirement_that_is_newer_leaves_the_others_their_time(
    tmp_path: Path, wheels: Path, environments: WorkspaceEnvironments
) -> None:
    for each in RELEASED:
        _plugin(wheels, each, WORKS)
    # Its only release is of 2025, when the base was a year old.
    make_wheel(wheels, "latecomer", "3.0", {"latecomer.py": ""})
    base = _base(tmp_path / "base")
    (base / "requirements.txt").write_text("pytest\npytest-early\nlatecomer\n")
    async with environments.lent(base) as found:
        assert _installed(found) == "1.0"
        assert isinstance(found, Ready)
        assert list(found.python.parents[1].glob("lib/python*/site-packages/latecomer.py"))


async def test_an_address_that_cannot_be_reached_is_left_out(
    tmp_path: Path, wheels: Path, environments: WorkspaceEnvironments
) -> None:
    for each in RELEASED:
        _plugin(wheels, each, WORKS)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        gone = f"http://127.0.0.1:{closed.getsockname()[1]}/gone.zip"
    base = _base(tmp_path / "base")
    (base / "requirements.txt").write_text(f"pytest\npytest-early\n{gone}\n")
    async with environments.lent(base) as found:
        assert _installed(found) == "1.0"
        assert isinstance(found, Ready)
        assert found.conceded.left_out == (gone,)


@pytest.mark.parametrize(
    ("day", "offered", "brings"),
    [("2022-05-20", True, True), ("2022-05-20", False, False), ("2024-01-20", True, False)],
    ids=["old", "not offered", "newer"],
)
async def test_an_old_base_gets_what_pytest_brought_then(
    tmp_path: Path, wheels: Path, environments: WorkspaceEnvironments, day: str, offered: bool, brings: bool
) -> None:
    make_wheel(wheels, "friend", "1.0", {"friend.py": ""})
    if offered:
        make_wheel(wheels, "py", "1.10", {"py/path.py": ""})
        make_wheel(wheels, "py", "1.11", {"py/io.py": ""})
    base = tmp_path / "base"
    base.mkdir()
    (base / "requirements.txt").write_text("friend\n")
    write_origin(base, TreeOrigin(committed=int(datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp())))
    async with environments.lent(base) as found:
        assert isinstance(found, Ready), found
        assert bool(list(found.python.parents[1].glob("lib/python*/site-packages/py/io.py"))) is brings


@pytest.mark.parametrize(
    ("day", "months", "later"),
    [
        ("2024-02-01", 3, "2024-05-01"),
        ("2024-02-01", 12, "2025-02-01"),
        ("2024-10-01", 3, "2025-01-01"),
        ("2025-02-01", 1, "2025-03-01"),
        ("2025-02-01", 3, ""),
    ],
)
def test_a_day_some_months_later(day: str, months: int, later: str) -> None:
    now = datetime(2025, 4, 1, tzinfo=UTC).timestamp()
    assert months_later(day, months, now) == later
