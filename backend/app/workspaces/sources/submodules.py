"""Fetches the files of a repository's git submodules, each from the URL in `.gitmodules`."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import anyio.to_thread

from app.core.errors import InvalidInputError, PhaseRunnerError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.filling import Filler
from app.workspaces.history.git import reason
from app.workspaces.history.repository import RunRepository
from app.workspaces.history.withheld import TreeEntry, special_entries
from app.workspaces.sources.inspection import SourcePolicy, check_file_url, check_url, without_password
from app.workspaces.sources.remote import prepare_fetch

MAX_SUBMODULES = 50
_MAX_DEPTH = 5
_SUBMODULE = b"160000"
_FETCH = ["fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
_FETCHED = "refs/phaserunner/submodule"
_KEY = re.compile(r"submodule\.(?P<name>.+)\.(?P<key>path|url)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule as `.gitmodules` describes it. `path` is relative to its repository."""

    name: str
    path: str
    url: str


class Place(Protocol):
    """The origin of a repository with submodules."""

    async def fetch(self, repo: RunRepository, module: Submodule, commit: str) -> "Place":
        """Fetch the commit of a submodule into a repository. Return the submodule's origin.

        Args:
            repo: gets the commit.
            module: the submodule.
            commit: its id.

        Raises:
            InvalidInputError, WorkspaceError: it cannot be fetched.
        """
        ...


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A remote repository. A submodule gets its credential if that is valid for the submodule's URL, too."""

    source: GitSource
    policy: SourcePolicy

    async def fetch(self, repo: RunRepository, module: Submodule, commit: str) -> "RemotePlace":
        """Fetch from the URL, which must follow the rules for sources."""
        url = resolve_url(module.url, self.source.url)
        known = self.source.credential
        fits = known is not None and self.policy.credentials.is_for(known, url)
        source = GitSource(url=url, ref=commit, credential=known if fits else None)
        await _fetch_commit(repo, source, self.policy)
        return RemotePlace(source, self.policy)


@dataclass(frozen=True, slots=True)
class _Above:
    """A repository that holds submodules: its commit, its origin, and the repository that gets its files."""

    commit: str
    place: Place
    path: str = ""
    depth: int = 0


async def submodules_of(repo: RunRepository, commit: str, place: Place) -> list[Filler]:
    """Fetch the files of all submodules of a commit, including nested ones.

    Args:
        repo: has the commit, and gets the files.
        commit: its `.gitmodules` names the URLs.
        place: the commit's origin.

    Raises:
        InvalidInputError, WorkspaceError: one cannot be fetched. The message names it.
    """
    return await _inside(repo, _Above(commit, place))


def resolve_url(url: str, source: str) -> str:
    """Return the URL of a submodule. A URL that begins with `./` or `../` is relative to the source's.

    Raises:
        InvalidInputError: it leads out of the source's server.
    """
    if not url.startswith(("./", "../")):
        return url
    scheme, separator, rest = source.rpartition("://")
    host, mark, path = rest.partition("/" if separator else ":")
    names = [each for each in path.split("/") if each]
    for each in url.split("/"):
        if each == ".." and not names:
            raise InvalidInputError(
                f"its URL {url} leads out of the server of its source", field="source.url"
            )
        if each == "..":
            names.pop()
        elif each not in ("", "."):
            names.append(each)
    root = "/" if not separator and path.startswith("/") else ""
    return f"{scheme}{separator}{host}{mark}{root}{'/'.join(names)}"


async def _inside(repo: RunRepository, above: _Above) -> list[Filler]:
    listing = await repo.git.run(["ls-tree", "-r", "-z", above.commit], repo.target)
    entries = [each for each in special_entries(listing) if each.mode == _SUBMODULE]
    if not entries:
        return []
    if above.depth >= _MAX_DEPTH or len(entries) > MAX_SUBMODULES:
        raise WorkspaceError(
            f"there are more than {MAX_SUBMODULES} submodules, or they lie in each other more than "
            f"{_MAX_DEPTH} deep; leave out `submodules` in phaserunner.toml"
        )
    modules = await _modules(repo, above.commit)
    return [await _fetch(repo, each, modules, above) for each in entries]


async def _modules(repo: RunRepository, commit: str) -> Mapping[str, Submodule]:
    """Read `.gitmodules`. Return the submodule at each path."""
    command = ["config", "-z", f"--blob={commit}:.gitmodules", "--get-regexp", r"^submodule\..*\.(path|url)$"]
    outcome = await repo.git.attempt(command, repo.target)
    named: dict[str, dict[str, str]] = {}
    for line in os.fsdecode(outcome.stdout).split("\0")[:-1] if outcome.returncode == 0 else ():
        key, _, value = line.partition("\n")
        found = _KEY.fullmatch(key)
        if found:
            named.setdefault(found["name"], {})[found["key"]] = value
    whole = [Submodule(name, each["path"], each["url"]) for name, each in named.items() if len(each) == 2]
    return {each.path: each for each in whole}


async def _fetch(
    repo: RunRepository, entry: TreeEntry, modules: Mapping[str, Submodule], above: _Above
) -> Filler:
    path = os.fsdecode(entry.path)
    shown = f"the submodule {above.path}{path}"
    if path not in modules:
        raise WorkspaceError(f"{shown} has no URL in .gitmodules")
    commit = entry.object_id.decode()
    try:
        place = await above.place.fetch(repo, modules[path], commit)
    except PhaseRunnerError as error:
        raise type(error)(f"{shown} cannot be fetched: {error.detail}") from error
    below = _Above(commit, place, f"{above.path}{path}/", above.depth + 1)
    placed = TreeEntry(entry.mode, entry.object_id, os.fsencode(f"{above.path}{path}"))
    return Filler(placed, await repo.tree_of(commit), tuple(await _inside(repo, below)))


async def _fetch_commit(repo: RunRepository, source: GitSource, policy: SourcePolicy) -> None:
    check_url(source.url, policy)
    if source.url.startswith("file:"):
        await anyio.to_thread.run_sync(check_file_url, source.url, policy)
    remote = await prepare_fetch(source, repo.git.transport_env, policy)
    command = [*_FETCH, "--", remote.url, f"+{source.ref}:{_FETCHED}"]
    outcome = await repo.git.attempt(command, repo.target, env=remote.env, timeout=policy.fetch_seconds)
    if outcome.returncode != 0 or outcome.timed_out:
        raise WorkspaceError(f"{without_password(source.url)}: {reason(outcome)}")
