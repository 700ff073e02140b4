"""Finds the repository of a URL among those that take part."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.core.credential_urls import is_ssh
from app.core.errors import InvalidInputError
from app.forges.operator_file import ForgeEntry, ForgesFile, RepositoryEntry

_ISSUE = re.compile(
    r"(?P<repository>[\w.-]+(?:/[\w.-]+)+?)(?:/-)?/(?:issues|pull|work_items)/(?P<number>[1-9]\d{0,9})"
)


@dataclass(frozen=True, slots=True)
class Member:
    """A repository that takes part, with its forge."""

    repository: RepositoryEntry
    forge: ForgeEntry

    @property
    def names(self) -> list[str]:
        """Return its name, and then those that it had before, in lower case."""
        return [each.lower() for each in (self.repository.name, *self.repository.former_names)]

    @property
    def clone_url(self) -> str:
        """Return the URL that git fetches from and pushes to."""
        return self._url(self.repository.name)

    def is_at(self, url: str) -> bool:
        """Return True if a source's URL leads to it, over https or ssh, by any name that it has had."""
        find = _by_host if is_ssh(url) else _without_end
        return any(find(self._url(name)) == find(url) for name in self.names)

    def branch_for(self, run: str, issue: int | None) -> str:
        """Return the name of the branch of a run; `run` is its short id."""
        return self.repository.branch.replace("{run}", run).replace("{issue}", str(issue or "none"))

    def _url(self, name: str) -> str:
        return f"{self.forge.web.rstrip('/')}/{name}.git"


class Members:
    """The repositories that take part.

    Args:
        file: the operator's file.
    """

    def __init__(self, file: ForgesFile) -> None:
        self.file = file
        self.every = [Member(each, file.forges[each.forge]) for each in file.repositories]

    def named(self, forge: str, repository: str) -> Member | None:
        """Find a repository by the name of its forge and a name that it has or had."""
        name = repository.lower()
        return next((m for m in self.every if m.repository.forge == forge and name in m.names), None)

    def of_url(self, url: str) -> Member | None:
        """Find the repository that a source's URL leads to, over https or ssh."""
        return next((each for each in self.every if each.is_at(url)), None)

    def of_issue(self, url: str) -> tuple[Member, int]:
        """Find the repository and the number of an issue.

        Raises:
            InvalidInputError: the URL does not belong to an issue, or its repository does not take part.
        """
        for member in self.every:
            beginning = member.forge.web.rstrip("/").lower() + "/"
            if not url.lower().startswith(beginning):
                continue
            rest = urlsplit(url).path[len(urlsplit(beginning).path) :].rstrip("/")
            found = _ISSUE.fullmatch(rest)
            if found and found["repository"].lower() in member.names:
                return member, int(found["number"])
        raise InvalidInputError(
            f"{url[:200]!r} is not an issue of a repository in FORGES_FILE; its form is "
            "https://github.com/OWNER/NAME/issues/NUMBER",
            field="issue",
        )


def not_in_file(repository: str) -> str:
    """Return what the operator can do about a repository that the file no longer names."""
    why = f"{repository} is no longer in FORGES_FILE"
    return f"{why}; if it was renamed, add it to former_names of the repository"


def not_followed(repository: str) -> str:
    """Return what the operator can do about pull requests that the file no longer wants to be followed."""
    return f"{repository} has no `review` in FORGES_FILE; with it, the pull request is followed again"


def _by_host(url: str) -> tuple[str, str]:
    """Return host and path; user, port and scheme of the same repository differ over ssh."""
    if "://" not in url:
        url = f"ssh://{url.replace(':', '/', 1)}"
    parts = urlsplit(url)
    return (parts.hostname or "", parts.path.strip("/").removesuffix(".git").lower())


def _without_end(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/').removesuffix('.git')}".lower()
