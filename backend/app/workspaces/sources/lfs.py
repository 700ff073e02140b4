"""Fetches files that a repository stores in git LFS, over https. Of a source over ssh, the server says where.

It uses LFS's batch API with basic transfers: one request names many objects, and the response says where each
one is. A stranger chooses these addresses, so they are checked like those of sources.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio
import httpx
from pydantic import BaseModel, ValidationError

from app.core.certificates import trusted_authorities
from app.core.credentials import Login
from app.core.errors import InvalidInputError, WorkspaceError
from app.schemas.workspaces import GitSource
from app.workspaces.history.repository import RunRepository
from app.workspaces.sources.inspection import SourcePolicy, check_url, without_password
from app.workspaces.sources.lfs_over_ssh import ask_over_ssh
from app.workspaces.sources.remote import host_and_port, proxy_of, public_address, without_secret

_BATCH = 100
_ANSWER_BYTES = 4_000_000
"""More than any server says about a hundred objects."""

_TYPE = "application/vnd.git-lfs+json"
_SECONDS = 30.0


class _Action(BaseModel):
    href: str
    header: dict[str, str] = {}


class _Actions(BaseModel):
    download: _Action | None = None


class _Error(BaseModel):
    message: str = ""


class _Object(BaseModel):
    oid: str
    actions: _Actions = _Actions()
    error: _Error | None = None


class _Answer(BaseModel):
    objects: list[_Object]


async def fetch_objects(
    repo: RunRepository, sizes: Mapping[str, int], source: GitSource, policy: SourcePolicy, place: Path
) -> Mapping[str, str]:
    """Fetch objects into a repository. Return the blob id of each, by its SHA-256.

    Args:
        repo: gets the blobs.
        sizes: the bytes of each object, by its SHA-256.
        source: the remote repository.
        policy: which sources and credentials are allowed.
        place: a directory for downloads.

    Raises:
        InvalidInputError: LFS cannot be fetched from this source, or an address is not public.
        WorkspaceError: an object is missing, or differs from its pointer.
    """
    server = await _server(source, repo, policy)
    oids, blobs = list(sizes), dict[str, str]()
    try:
        for start in range(0, len(oids), _BATCH):
            some = {oid: sizes[oid] for oid in oids[start : start + _BATCH]}
            for oid, action in (await _ask(server, some, repo, policy)).items():
                await _download(action, oid, sizes[oid], place / oid, repo, policy)
                blobs[oid] = await _keep(repo, place / oid)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise WorkspaceError(
            f"LFS of {without_password(source.url)} cannot be reached: {type(error).__name__}: {error}"
        ) from error
    return blobs


@dataclass(frozen=True, slots=True)
class _Server:
    """An LFS server, and what lets the service in there."""

    url: str
    login: Login | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


async def _server(source: GitSource, repo: RunRepository, policy: SourcePolicy) -> _Server:
    if not source.url.startswith(("https:", "http:")):
        place = await ask_over_ssh(source, repo, policy)
        return _Server(place.url, headers=place.headers)
    beginning = without_secret(source.url)[0].rstrip("/").removesuffix(".git")
    return _Server(f"{beginning}.git/info/lfs", await _login(source, policy))


async def _login(source: GitSource, policy: SourcePolicy) -> Login | None:
    if source.credential is not None:
        found = await policy.credentials.for_url(source.credential, source.url)
        return found if isinstance(found, Login) else None
    secrets = without_secret(source.url)[1]
    return Login(secrets["SOURCE_USER"], secrets["SOURCE_PASSWORD"]) if secrets else None


async def _ask(
    server: _Server, sizes: Mapping[str, int], repo: RunRepository, policy: SourcePolicy
) -> dict[str, _Action]:
    asked = {
        "operation": "download",
        "transfers": ["basic"],
        "hash_algo": "sha256",
        "objects": [{"oid": oid, "size": size} for oid, size in sizes.items()],
    }
    headers = {**server.headers, "Accept": _TYPE, "Content-Type": _TYPE}
    client, target, extra = await _reach(f"{server.url.rstrip('/')}/objects/batch", repo, policy)
    if server.login is not None:
        client.auth = (server.login.username, server.login.secret)
    headers.update(extra.headers)
    async with (
        client,
        client.stream("POST", target, json=asked, headers=headers, extensions=extra.extensions) as response,
    ):
        if response.status_code != HTTPStatus.OK:
            raise WorkspaceError(
                f"LFS answered {response.status_code}; the credential may lack the right to read it",
            )
        answer = await _read(response)
    try:
        found = {each.oid: each for each in _Answer.model_validate_json(answer).objects}
    except ValidationError as error:
        raise WorkspaceError("LFS gave an answer that cannot be read") from error
    return {oid: _action(oid, found.get(oid)) for oid in sizes}


async def _read(response: httpx.Response) -> bytes:
    answer = bytearray()
    async for chunk in response.aiter_raw():
        answer += chunk
        if len(answer) > _ANSWER_BYTES:
            raise WorkspaceError(f"LFS gave an answer of more than {_ANSWER_BYTES:,} bytes")
    return bytes(answer)


def _action(oid: str, found: _Object | None) -> _Action:
    if found is None or found.actions.download is None:
        why = found.error.message if found is not None and found.error is not None else "it is not there"
        raise WorkspaceError(f"LFS has no object {oid[:12]}: {why[:300]}")
    return found.actions.download


async def _download(
    action: _Action, oid: str, size: int, file: Path, repo: RunRepository, policy: SourcePolicy
) -> None:
    client, target, extra = await _reach(action.href, repo, policy)
    headers, digest, seen = {**action.header, **extra.headers}, hashlib.sha256(), 0
    async with (
        client,
        client.stream("GET", target, headers=headers, extensions=extra.extensions) as response,
        await anyio.open_file(file, "wb") as kept,
    ):
        if response.status_code != HTTPStatus.OK:
            raise WorkspaceError(f"LFS answered {response.status_code} for {oid[:12]}")
        async for chunk in response.aiter_raw():
            seen += len(chunk)
            if seen > size:
                break
            digest.update(chunk)
            await kept.write(chunk)
    if seen != size or digest.hexdigest() != oid:
        raise WorkspaceError(f"the object {oid[:12]} of LFS is not what its pointer says")


async def _keep(repo: RunRepository, file: Path) -> str:
    made = await repo.git.run(["hash-object", "-w", "--no-filters", "--", os.fspath(file)], repo.target)
    await anyio.Path(file).unlink()
    return made.decode().strip()


@dataclass(frozen=True, slots=True)
class _Extra:
    """What a request needs to reach the checked address."""

    headers: Mapping[str, str]
    extensions: Mapping[str, Any]


async def _reach(
    url: str, repo: RunRepository, policy: SourcePolicy
) -> tuple[httpx.AsyncClient, httpx.URL, _Extra]:
    """Check the address behind a URL. Return a client, and the URL with the address that was checked."""
    check_url(url, policy)
    place = host_and_port(url)
    if place is None or not url.startswith(("https:", "http:")):
        raise InvalidInputError("LFS names a place that is none of https")
    target, proxy = httpx.URL(url), proxy_of(repo.git.transport_env)
    extra = _Extra({}, {})
    if not policy.allow_private_urls:
        address = await public_address(*place, behind_proxy=proxy is not None)
        if proxy is None and address is not None:
            extra = _Extra({"Host": target.netloc.decode("ascii")}, {"sni_hostname": target.host})
            target = target.copy_with(host=address)
    client = httpx.AsyncClient(
        # A few compressed bytes could become more than the memory holds.
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
        timeout=_SECONDS,
        proxy=proxy,
        verify=trusted_authorities(),
    )
    return client, target, extra
