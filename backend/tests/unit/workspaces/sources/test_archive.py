"""Archives are unpacked, and hostile ones are refused with nothing outside touched."""

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.errors import InvalidInputError
from app.workspaces.files.limits import WorkspaceLimits
from app.workspaces.sources.archive import archive_format, unpack

LIMITS = WorkspaceLimits(max_files=100, max_bytes=1_000_000)


def info(name: str, kind: bytes = tarfile.REGTYPE, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member, data in members:
            if data:
                member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def zipped(*members: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def zip_info(name: str, mode: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.create_system = 3
    made.external_attr = mode << 16
    return made


def tar_of_links(*links: tuple[str, str]) -> bytes:
    return tar(*((info(name, tarfile.SYMTYPE, linkname=target), b"") for name, target in links))


def zip_of_links(*links: tuple[str, str]) -> bytes:
    return zipped(*((zip_info(name, stat.S_IFLNK | 0o777), target.encode()) for name, target in links))


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    place = tmp_path / "in" / "tree"
    place.mkdir(parents=True)
    return place


def outside(dest: Path) -> list[str]:
    return sorted(str(each) for each in dest.parent.parent.rglob("*") if dest not in (each, *each.parents))


PLAIN = tar(
    (info("./src", tarfile.DIRTYPE, mode=0o755), b""),
    (info("./src/a.py", mode=0o644), b"x = 1\n"),
    (info("run.sh", mode=0o755), b"#!/bin/sh\n"),
    (info("link", tarfile.SYMTYPE, linkname="src/a.py"), b""),
    (info("same", tarfile.LNKTYPE, linkname="./src/a.py"), b""),
    (info("proj/.git/config"), b"[core]\n\tfsmonitor = touch\n"),
)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("tar", lambda data: data),
        ("tar.gz", gzip.compress),
        ("tar.bz2", bz2.compress),
        ("tar.xz", lzma.compress),
    ],
)
def test_a_tar_is_unpacked(dest: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    data = pack(PLAIN)
    assert archive_format(data) == name
    unpack(data, dest, LIMITS)
    assert (dest / "src" / "a.py").read_text() == "x = 1\n"
    assert (dest / "same").read_text() == "x = 1\n"
    assert os.readlink(dest / "link") == "src/a.py"
    assert (dest / "run.sh").stat().st_mode & stat.S_IXUSR
    assert not (dest / "src" / "a.py").stat().st_mode & stat.S_IXUSR
    assert not (dest / "proj").exists()


def test_a_zip_is_unpacked(dest: Path) -> None:
    data = zipped(
        ("src/", b""),
        ("src/a.py", b"x = 1\n"),
        (zip_info("run.sh", stat.S_IFREG | 0o755), b"#!/bin/sh\n"),
        (zip_info("link", stat.S_IFLNK | 0o777), b"src/a.py"),
    )
    unpack(data, dest, LIMITS)
    assert (dest / "link").read_text() == "x = 1\n"
    assert (dest / "run.sh").stat().st_mode & stat.S_IXUSR


LINKS = {
    "through-a-link": (("a", "../.."), ("a/.ssh/authorized_keys", "/tmp/attacker")),
    "beside-a-link-up": (("a", "../.."), ("a/evil", "x")),
    "through-a-link-inside": (("b/c", "x"), ("a", "b"), ("a/d", "x")),
    "through-two-links": (("a", "b"), ("b", "../.."), ("a/evil/x", "x")),
    "through-a-link-spelt-otherwise": (("./a", "../.."), ("a//./evil/x", "x")),
    "through-a-link-and-back": (("a", "../.."), ("a/../a/evil", "x")),
    "before-the-link": (("a/evil/x", "x"), ("a", "../..")),
    "path-twice": (("a", "b"), ("a/evil/x", "x"), ("./a", "../..")),
    "far-below-a-link": (("a", "../.."), ("a/b/c/d/evil", "x")),
    "to-the-end-of-a-chain": (("a", ".."), ("b", "a/.."), ("b/evil/x", "x")),
}

UP = info("a", tarfile.SYMTYPE, linkname="../..")
ZIP_UP = zip_info("a", stat.S_IFLNK | 0o777)

HOSTILE = {
    "up": tar((info("../evil"), b"x")),
    "up-in-the-middle": tar((info("a/../../evil"), b"x")),
    "absolute": tar((info("/tmp/evil"), b"x")),
    "link-up": tar((info("l", tarfile.SYMTYPE, linkname="../.."), b"")),
    "link-absolute": tar((info("l", tarfile.SYMTYPE, linkname="/etc/passwd"), b"")),
    "link-then-file": tar((info("l", tarfile.SYMTYPE, linkname=".."), b""), (info("l/evil"), b"x")),
    "link-then-file-inside": tar((info("l", tarfile.SYMTYPE, linkname="a"), b""), (info("l/evil"), b"x")),
    "links-in-a-chain": tar(
        (info("a/b/up", tarfile.SYMTYPE, linkname="../.."), b""),
        (info("l", tarfile.SYMTYPE, linkname="a/b/up/.."), b""),
    ),
    "hard-link-out": tar((info("h", tarfile.LNKTYPE, linkname="/etc/passwd"), b"")),
    "hard-link-up": tar((info("h", tarfile.LNKTYPE, linkname="../../x"), b"")),
    "hard-link-to-nothing": tar((info("h", tarfile.LNKTYPE, linkname="nothing"), b"")),
    "hard-link-through-a-link": tar(
        (info("l", tarfile.SYMTYPE, linkname="/etc/passwd"), b""),
        (info("h", tarfile.LNKTYPE, linkname="l"), b""),
    ),
    "device": tar((info("d", tarfile.CHRTYPE, devmajor=1, devminor=3), b"")),
    "fifo": tar((info("f", tarfile.FIFOTYPE), b"")),
    "file-twice": tar((info("a"), b"1"), (info("a"), b"2")),
    "file-and-directory": tar((info("a"), b"1"), (info("a/b"), b"2")),
    "too-many-files": tar(*((info(f"f{n}"), b"x") for n in range(101))),
    "too-large": tar((info("big"), b"x" * 1_000_001)),
    "bomb": gzip.compress(tar((info("big"), bytes(30_000_000)))),
    "hard-link-bomb": tar(
        (info("big"), b"x" * 600_000), (info("again", tarfile.LNKTYPE, linkname="big"), b"")
    ),
    "long-header": gzip.compress(info("x", b"x", size=900_000_000).tobuf() + bytes(3_000_000)),
    "cut-short": tar((info("a"), b"x" * 5000))[:2000],
    "cut-gzip": gzip.compress(PLAIN)[:-20],
    "not-an-archive": b"hello",
    "empty": b"",
    "zip-up": zipped(("../evil", b"x")),
    "zip-absolute": zipped(("/tmp/evil", b"x")),
    "zip-bomb": zipped(("big", bytes(30_000_000))),
    "zip-link-up": zipped((zip_info("l", stat.S_IFLNK | 0o777), b"../..")),
    "zip-link-then-file": zipped((zip_info("l", stat.S_IFLNK | 0o777), b".."), ("l/evil", b"x")),
    "zip-device": zipped((zip_info("d", stat.S_IFCHR | 0o666), b"")),
    "zip-cut": zipped(("a", b"x"))[:-5],
    "link-then-directory": tar((UP, b""), (info("a", tarfile.DIRTYPE), b"")),
    "link-then-directory-below": tar((UP, b""), (info("a/evil", tarfile.DIRTYPE), b"")),
    "directory-then-link": tar((info("a", tarfile.DIRTYPE), b""), (UP, b"")),
    "link-below-a-file": tar((info("f"), b"1"), (info("f/l", tarfile.SYMTYPE, linkname="../.."), b"")),
    "link-in-place-of-a-file": tar((info("a"), b"1"), (UP, b"")),
    "hard-link-below-a-link": tar(
        (info("f"), b"1"), (UP, b""), (info("a/h", tarfile.LNKTYPE, linkname="f"), b"")
    ),
    "hard-link-to-a-link": tar((UP, b""), (info("h", tarfile.LNKTYPE, linkname="a"), b"")),
    "hard-link-to-a-directory": tar(
        (info("d", tarfile.DIRTYPE), b""), (info("h", tarfile.LNKTYPE, linkname="d"), b"")
    ),
    "zip-link-then-directory": zipped((ZIP_UP, b"../.."), ("a/", b"")),
    "zip-link-then-directory-below": zipped((ZIP_UP, b"../.."), ("a/evil/", b"")),
    "zip-directory-then-link": zipped(("a/", b""), (ZIP_UP, b"../..")),
    "zip-link-below-a-file": zipped(("f", b"1"), (zip_info("f/l", stat.S_IFLNK | 0o777), b"../..")),
    "zip-link-in-place-of-a-file": zipped(("./a", b"1"), (ZIP_UP, b"../..")),
    **{f"links-{name}": tar_of_links(*links) for name, links in LINKS.items()},
    **{f"zip-links-{name}": zip_of_links(*links) for name, links in LINKS.items()},
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_archive_is_refused(dest: Path, data: bytes) -> None:
    before = outside(dest)
    with pytest.raises(InvalidInputError) as refused:
        unpack(data, dest, LIMITS)
    assert refused.value.field == "source.data"
    assert str(dest) not in refused.value.detail
    assert outside(dest) == before
    assert sum(each.lstat().st_size for each in dest.rglob("*") if each.is_file()) <= LIMITS.max_bytes


@pytest.mark.parametrize("pack", [tar_of_links, zip_of_links])
def test_a_link_to_a_home_directory_makes_no_file_there(
    tmp_path: Path, dest: Path, pack: Callable[..., bytes]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(InvalidInputError, match="does not fit to the other entries"):
        unpack(pack(("a", str(home)), ("a/.ssh/authorized_keys", "/tmp/attacker")), dest, LIMITS)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("pack", [tar_of_links, zip_of_links])
def test_links_beside_each_other_are_created(dest: Path, pack: Callable[..., bytes]) -> None:
    unpack(pack(("a", "d/b"), ("e", "a"), ("d/b", "c"), ("d/c", "../a"), ("ab/a", "../d")), dest, LIMITS)
    assert os.readlink(dest / "e") == "a"
    assert os.readlink(dest / "ab" / "a") == "../d"


@pytest.mark.parametrize("pack", [tar_of_links, zip_of_links])
def test_of_a_link_that_comes_twice_the_last_one_counts(dest: Path, pack: Callable[..., bytes]) -> None:
    unpack(pack(("a", "../.."), ("./a", "b")), dest, LIMITS)
    assert os.readlink(dest / "a") == "b"


def test_a_zip_that_lies_about_its_size_is_refused(dest: Path) -> None:
    data = bytearray(zipped(("big", bytes(3_000_000))))
    for at in range(len(data) - 4):  # the declared size, in both headers
        if data[at : at + 4] == (3_000_000).to_bytes(4, "little"):
            data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(InvalidInputError):
        unpack(bytes(data), dest, LIMITS)


def test_an_archive_of_very_deep_directories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="more than 100 directories deep"):
        unpack(tar((info("d/" * 1500 + "f"), b"x")), tmp_path, LIMITS)
