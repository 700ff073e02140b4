"""Chooses the files of a working tree that may be shown to a model: project text without secrets."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from app.workspaces.files.paths import is_excluded_directory, is_git_directory_name

MAX_FILE_BYTES = 400_000
MAX_FILES = 5_000
MAX_TOTAL_BYTES = 16_000_000

_SKIPPED = frozenset({"site-packages", "__pypackages__", ".tox", ".nox", ".hg", ".svn", ".phaserunner"})
_GENERATED = frozenset(
    {"uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "go.sum"}
)
_SECRET_DIRECTORIES = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"})
_SECRET_NAMES = (
    *(".env", ".env.*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg"),
    *(
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
        "credentials",
        "credentials.*",
        "secrets",
        "secrets.*",
    ),
    *("*-credentials.json", "service-account*.json", "client_secret*.json", ".pgpass", ".vault-token"),
)
_EXAMPLES = (".env.example", ".env.sample", ".env.template", "*.pub")
"""Files that hold no secrets in spite of their names. Their content is checked like that of every file."""

_SECRETS = {
    mark: re.compile(pattern)
    for mark, pattern in (
        ("PRIVATE KEY", "-----BEGIN [A-Z ]*PRIVATE KEY"),
        ("AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
        ("ASIA", r"\bASIA[0-9A-Z]{16}\b"),
        ("gh", r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
        ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{60,}"),
        ("glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("xox", r"\bxox[abprs]-[A-Za-z0-9-]{20,}"),
        ("sk-", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}"),
        ("sk_live_", r"\bsk_live_[A-Za-z0-9]{20,}"),
        ("AIza", r"\bAIza[0-9A-Za-z_-]{35}\b"),
        ("npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("://", r"://[^\s/:@]{1,100}:[^\s/:@{}$<*]{8,100}@[\w.-]+\.[a-z]{2,}"),
    )
}
"""Keys with a recognisable form, each with a fixed text that it contains: searching for that first is fast.

The list is not complete, because a password looks like any other word.
"""


class UnreadableFileError(Exception):
    """A file cannot or must not be shown. The message says why."""


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """A text file: its path in the tree, with `/`, and its content."""

    path: str
    text: str


def readable_files(root: Path) -> Iterator[ReadableFile]:
    """Yield the files that may be shown, small ones first, within the limits of this module.

    Version control, caches, installed packages, lock files, links, large files and files that are not UTF-8
    text are left out. So are files that are secret by their name or content.
    """
    left = MAX_TOTAL_BYTES
    count = 0
    for size, path in sorted(_candidates(root)):
        left -= size
        if left < 0 or count == MAX_FILES:
            return
        try:
            text = read_shown(root, path)
        except UnreadableFileError:
            continue
        count += 1
        yield ReadableFile(path, text)


def read_shown(root: Path, path: str) -> str:
    """Return the text of one file of a tree.

    Raises:
        UnreadableFileError: the file does not exist, must not be shown, or is not text.
    """
    _require_inside(root, path)
    if looks_secret(path):
        raise UnreadableFileError(f"{path}: files of this name hold secrets, and are not shown")
    text = _text(root / path, path)
    if any(mark in text and pattern.search(text) for mark, pattern in _SECRETS.items()):
        raise UnreadableFileError(f"{path}: it seems to hold a key or a password, and is not shown")
    return text


def looks_secret(path: str) -> bool:
    """Return True if files with this name usually hold secrets. Case makes no difference."""
    parts = PurePosixPath(path.casefold()).parts
    if any(part in _SECRET_DIRECTORIES for part in parts[:-1]):
        return True
    name = parts[-1]
    if any(fnmatchcase(name, each) for each in _EXAMPLES):
        return False
    # A source module about secrets is not a secret.
    is_source = name.endswith((".py", ".pyi", ".js", ".ts", ".go", ".rs", ".java", ".rb", ".md"))
    return not is_source and any(fnmatchcase(name, each) for each in _SECRET_NAMES)


def _text(place: Path, path: str) -> str:
    try:
        about = place.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise UnreadableFileError(f"{path}: not a regular file")
        if about.st_size > MAX_FILE_BYTES:
            raise UnreadableFileError(
                f"{path}: {about.st_size:,} bytes are too many; {MAX_FILE_BYTES:,} are read"
            )
        text = place.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UnreadableFileError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"{path}: a binary file, or text that is not UTF-8") from error
    if "\0" in text:
        raise UnreadableFileError(f"{path}: a binary file")
    return text


def _candidates(root: Path) -> Iterator[tuple[int, str]]:
    for directory, subdirectories, names in os.walk(root):
        subdirectories[:] = sorted(each for each in subdirectories if not _is_skipped(each))
        here = Path(directory)
        for name in names:
            place = here / name
            try:
                about = place.lstat()
                path = place.relative_to(root).as_posix()
                path.encode()
            except (OSError, UnicodeEncodeError):
                continue
            if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_FILE_BYTES and name not in _GENERATED:
                yield about.st_size, path


def _is_skipped(directory: str) -> bool:
    name = os.fsencode(directory)
    return directory in _SKIPPED or is_excluded_directory(name) or is_git_directory_name(name)


def _require_inside(root: Path, path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts or "\0" in path:
        raise UnreadableFileError(f"{path!r} is no path inside the workspace")
    if any(is_git_directory_name(os.fsencode(part)) for part in parts):
        raise UnreadableFileError(f"{path}: version control is not shown")
    # A directory on the path may be a link that leads out.
    if (root / path).parent.resolve() != root.resolve().joinpath(*parts[:-1]):
        raise UnreadableFileError(f"{path}: it lies behind a symbolic link")
