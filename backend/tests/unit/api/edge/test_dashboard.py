"""Which file answers which path; nothing outside of the built page is ever given."""

from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response

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


COMPRESSED = {"br": ".br", "gzip": ".gz"}


def asked(built: Dashboard, path: str, **headers: str) -> Response:
    named = Headers({name.replace("_", "-"): value for name, value in headers.items()})
    answer = built.response(path, for_reading=True, request=named)
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("zstd", None),
        ("", None),
    ],
)
def test_the_smallest_file_that_a_browser_reads_is_sent(
    built: Dashboard, accepted: str, coding: str | None
) -> None:
    script = built.directory / "assets" / "index-abc.js"
    for each, ending in COMPRESSED.items():
        script.with_name(script.name + ending).write_text(f"{each} of 1")
    answer = asked(built, "/assets/index-abc.js", accept_encoding=accepted)
    assert isinstance(answer, FileResponse)
    assert Path(answer.path).name == script.name + (COMPRESSED[coding] if coding else "")
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "immutable" in answer.headers["cache-control"]


def test_a_file_without_compressed_ones_is_sent_as_it_is(built: Dashboard) -> None:
    answer = asked(built, "/favicon.svg", accept_encoding="br, gzip")
    assert "content-encoding" not in answer.headers
    assert answer.headers["content-type"] == "image/svg+xml"


def test_a_browser_that_has_the_page_does_not_get_it_again(built: Dashboard) -> None:
    (built.directory / "index.html.gz").write_text("smaller")
    whole = asked(built, "/")
    small = asked(built, "/", accept_encoding="gzip")
    assert whole.headers["etag"] != small.headers["etag"], "each coding has its own tag"
    for tag in (small.headers["etag"], f'"other", W/{small.headers["etag"]}', "*"):
        again = asked(built, "/", accept_encoding="gzip", if_none_match=tag)
        assert (again.status_code, again.body) == (304, b"")
        assert again.headers["etag"] == small.headers["etag"]
        assert again.headers["cache-control"] == "no-cache"
    for headers in ({"if_none_match": small.headers["etag"]}, {"if_none_match": ""}):
        assert asked(built, "/", **headers).status_code == 200
