"""Sources, and what policies allow of them."""

from pathlib import Path

from app.schemas.workspaces import ArchiveSource, LocalSource
from app.workspaces.sources.inspection import SourcePolicy

ANY = SourcePolicy()
FILES = SourcePolicy(allow_file_urls=True)


def local(path: Path, ref: str = "HEAD") -> LocalSource:
    return LocalSource(path=str(path), ref=ref)


def archive(data: bytes, **options: bool) -> ArchiveSource:
    return ArchiveSource(data=data, **options)


def files_in(tree: Path) -> list[str]:
    return sorted(str(each.relative_to(tree)) for each in tree.rglob("*") if not each.is_dir())
