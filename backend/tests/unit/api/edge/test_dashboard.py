"""Which file answers which path; nothing outside of the built page is ever given."""

from pathlib import Path

import pytest
from starlette.responses import FileResponse

from app.api.edge.dashboard import FAILURE, Dashboard


@pytest.fixture
def built(tmp_path: Path) -> Dashboard:
    dist = tmp_path / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<title>page</title>")
    (dist / ".sources").write_text("hidden")
    (dist / "favicon.svg").write_text("<svg/>")
    (dist / "assets" / "index-abc.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    (dist / "link").symlink_to(tmp_path / "secret.txt")
    return Dashboard(dist)


@pytest.mark.parametrize(
    ("path", "name", "caching"),
    [
        pytest.param("/", "index.html", "no-cache", id="root"),
        pytest.param("/sprints/1?x", "index.html", "no-cache", id="a place in the page"),
        pytest.param("/a.b", "index.html", "no-cache", id="a place with a dot"),
        pytest.param("/favicon.svg", "favicon.svg", "no-cache", id="a file"),
        pytest.param("/assets/index-abc.js", "index-abc.js", "immutable", id="named by content"),
        pytest.param("/../secret.txt", "index.html", "no-cache", id="climbing out"),
        pytest.param("//etc/passwd", "index.html", "no-cache", id="absolute"),
        pytest.param("/link", "index.html", "no-cache", id="a link that leads out"),
        pytest.param("/.sources", "index.html", "no-cache", id="hidden"),
        pytest.param("/a\0b", "index.html", "no-cache", id="nul"),
        pytest.param("/" + "x" * 5000, "index.html", "no-cache", id="too long a name"),
    ],
)
def test_a_browser_gets_a_file_or_the_page(built: Dashboard, path: str, name: str, caching: str) -> None:
    answer = built.response(path, for_reading=True)
    assert isinstance(answer, FileResponse)
    assert Path(answer.path).name == name
    assert caching in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/nowhere", "/assets/index-old.js", "/../secret.txt"])
def test_a_program_is_told_that_there_is_nothing(built: Dashboard, path: str) -> None:
    assert built.response(path, for_reading=False) is None


def test_an_old_asset_is_never_answered_with_the_page(built: Dashboard) -> None:
    assert built.response("/assets/index-old.js", for_reading=True) is None


def test_without_a_build_a_page_says_why(tmp_path: Path) -> None:
    nothing = Dashboard(tmp_path / "dist")
    answer = nothing.response("/sprints/1", for_reading=True)
    assert answer is not None
    assert b"make dashboard" in answer.body

    (tmp_path / FAILURE).write_text("npm ended with 1: <script>alert(1)</script>")
    failed = nothing.response("/", for_reading=False)
    assert failed is not None
    assert b"npm ended with 1" in failed.body
    assert b"<script>" not in failed.body
