"""The operator's file of forges: credentials, forges, and the repositories that take part."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import ErrorDetails

from app.core.addresses import can_be_host
from app.core.credential_urls import can_be_beginning, is_ssh
from app.core.credentials import DEFAULT_USERNAME, CredentialRule, Credentials, Exchange
from app.core.secret_references import SecretReference
from app.core.security import is_loopback
from app.core.toml_document import Complaint, TomlDocument, place_of
from app.forges.app_tokens import GitHubApp
from app.forges.rest import OpenClient, forge_client
from app.forges.templates import DESCRIPTION, TITLE, DescriptionTemplate, TitleTemplate
from app.schemas.agents import AgentSpec
from app.schemas.api.policies import PolicyOverrides
from app.schemas.runs import Phase

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
_AppId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._]{1,40}$")]
_RepositoryName = Annotated[str, StringConstraints(pattern=r"^[\w.-]+(/[\w.-]+)+$", max_length=200)]
_KnownHosts = Annotated[str, StringConstraints(pattern=r"^/[\w./+@, -]+$", max_length=1000)]

_PUBLIC = {
    "github": {"api": "https://api.github.com", "web": "https://github.com"},
    "gitlab": {"api": "https://gitlab.com/api/v4", "web": "https://gitlab.com"},
}


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _require_encrypted(name: str, url: str) -> None:
    parts = urlsplit(url)
    here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (parts.scheme == "https" or here) or not parts.hostname or "@" in parts.netloc:
        raise ValueError(f"{name} must begin with https:// and hold no password")
    if not can_be_host(parts.hostname):
        raise ValueError(f"{name}: {parts.hostname!r} is not a valid host name")


class CredentialEntry(SecretReference):
    """A token for git over https and for a forge's API, the private key of a GitHub App, or a key for ssh.

    Attributes:
        username: the user name that goes with the token.
        urls: beginnings of the URLs of repositories for which sources may use it.
        app: client ID of a GitHub App; the secret is then its private key.
        installation: number of the App's installation; by default its only one.
        api: base URL of the API that issues the App's tokens.
        known_hosts: absolute path of a file with the keys of ssh servers, as `ssh-keyscan` writes it; the
            secret is then a private key without passphrase, for ssh URLs.
    """

    username: str = DEFAULT_USERNAME
    urls: list[str] = Field(default=[])
    app: _AppId | None = None
    installation: int | None = Field(default=None, ge=1)
    api: str = _PUBLIC["github"]["api"]
    known_hosts: _KnownHosts | None = None

    @model_validator(mode="after")
    def _urls_of_its_kind(self) -> Self:
        for each in self.urls:
            if not can_be_beginning(each):
                raise ValueError(
                    f"urls: {each!r} is not the beginning of a URL of repositories, such as "
                    "https://github.com/acme/, ssh://git@HOST/acme/ or git@github.com:acme/"
                )
            if is_ssh(each) != (self.known_hosts is not None):
                raise ValueError(
                    "known_hosts names the keys of ssh servers; a credential has it if, and only if, its "
                    f"urls are of ssh, and {each!r} is {'one' if is_ssh(each) else 'none'}"
                )
        if self.known_hosts is not None and self.app is not None:
            raise ValueError("a GitHub App has no known_hosts: its tokens are for https")
        return self

    @model_validator(mode="after")
    def _of_an_app(self) -> Self:
        if self.app is None and (self.installation is not None or "api" in self.model_fields_set):
            raise ValueError("installation and api belong to a GitHub App; name it with app")
        if self.app is not None and self.username != DEFAULT_USERNAME:
            raise ValueError("username cannot be chosen for a GitHub App")
        _require_encrypted("api", self.api)
        return self


class ForgeEntry(_Strict):
    """A forge.

    Attributes:
        kind: the adapter that connects to it.
        api: base URL of its API; by default that of the public server of the kind.
        web: base URL of its pages and repositories; by default that of the public server of the kind.
        credential: the account under which the service acts.
        webhook_secret: the secret with which the forge signs its deliveries; without it none is accepted.
    """

    kind: Literal["github", "gitlab"] = "github"
    api: str = ""
    web: str = ""
    credential: _Name
    webhook_secret: SecretReference | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_kind(cls, given: object) -> object:
        """Use the public server of the kind if the entry names no server."""
        if not isinstance(given, dict):
            return given
        found = cast("dict[str, Any]", given)
        return {**_PUBLIC.get(str(found.get("kind", "github")), {}), **found}

    @model_validator(mode="after")
    def _encrypted(self) -> Self:
        for name, url in (("api", self.api), ("web", self.web)):
            _require_encrypted(name, url)
        return self


class ForgeRules(_Strict):
    """What may start runs from webhooks, and how such runs work.

    Attributes:
        labels: adding one of these labels to an issue starts a run.
        commands: whether to accept `/phaserunner run`, `retry` and `stop` in comments.
        poll_minutes: how often to look for labels and commands that no webhook reports;
            without it there is no polling.
        agent: the agents of the runs.
        phases: the phases of the runs.
        policy: limits of the runs, which override the service's own.
    """

    labels: list[str] = []
    commands: bool = False
    poll_minutes: int | None = Field(default=None, ge=1, le=1440)
    agent: AgentSpec = AgentSpec()
    phases: list[Phase] = Field(default=list(Phase), min_length=1)
    policy: PolicyOverrides = PolicyOverrides()


class ReviewRules(_Strict):
    """How pull requests are followed until they are merged.

    Attributes:
        rounds: how often feedback may start a new sprint on the same pull request.
        agent: the agents of rounds; by default those of the first sprint.
        policy: limits of each round, which override the service's own.
        settle_seconds: how long a round waits after the newest event, so that it answers all of them.
        poll_minutes: how often to look at a pull request without any event.
        pushes: what follows if the gates fail what other people pushed: `report` only says so, and `round`
            starts a round as well.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    agent: AgentSpec | None = None
    policy: PolicyOverrides = PolicyOverrides()
    settle_seconds: float = Field(default=30.0, ge=0, le=3600, allow_inf_nan=False)
    poll_minutes: int = Field(default=60, ge=1, le=1440)
    pushes: Literal["report", "round"] = "report"


class RepositoryEntry(_Strict):
    """A repository that takes part.

    Attributes:
        name: `owner/name`.
        forge: name of its forge.
        former_names: names that it had before; what was started under them goes on.
        branch: template for names of branches; `{run}` is the short id of the run, `{issue}` the number.
        pull_request: `passed` offers results that the gates passed; `always` also offers others, as drafts;
            `never` offers nothing.
        title: template for titles of pull requests.
        description: template for their descriptions.
        rules: what may start runs.
        review: how its pull requests are followed; without it they are not.
    """

    name: _RepositoryName
    forge: _Name
    former_names: list[_RepositoryName] = Field(default=[], max_length=20)
    branch: str = "phaserunner/{run}"
    pull_request: Literal["passed", "always", "never"] = "passed"
    title: TitleTemplate = TITLE
    description: DescriptionTemplate = DESCRIPTION
    rules: ForgeRules = ForgeRules()
    review: ReviewRules | None = None

    @model_validator(mode="after")
    def _one_branch_per_run(self) -> Self:
        if "{run}" not in self.branch:
            raise ValueError("branch must contain {run}, so that each run has its own")
        if "{" in self.branch.replace("{run}", "").replace("{issue}", ""):
            raise ValueError("branch knows the placeholders {run} and {issue} only")
        return self


class ForgesFile(_Strict):
    """The operator's file of forges.

    Attributes:
        page: base URL of this service's pages, for links.
    """

    page: str | None = None
    credentials: dict[_Name, CredentialEntry] = {}
    forges: dict[_Name, ForgeEntry] = {}
    repositories: list[RepositoryEntry] = []

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        for name, forge in self.forges.items():
            known = self.credentials.get(forge.credential)
            if known is None:
                raise ValueError(f"forges.{name}.credential: there is no credential {forge.credential!r}")
            if known.known_hosts is not None:
                raise ValueError(f"forges.{name}.credential: {forge.credential!r} is for ssh, not for an API")
        for index, each in enumerate(self.repositories):
            if each.forge not in self.forges:
                raise ValueError(f"repositories.{index}.forge: there is no forge {each.forge!r}")
        return self

    @model_validator(mode="after")
    def _each_name_is_one_repository(self) -> Self:
        seen: set[tuple[str, str]] = set()
        for index, each in enumerate(self.repositories):
            names = [("name", each.name), *(("former_names", name) for name in each.former_names)]
            for key, name in names:
                if (each.forge, name.lower()) in seen:
                    raise ValueError(f"repositories.{index}.{key}: {name} is defined twice")
                seen.add((each.forge, name.lower()))
        return self


def load_forges(path: Path | None) -> ForgesFile:
    """Read the operator's file; without one, no repository takes part.

    Raises:
        InvalidInputError: the file cannot be read, is not TOML, or has an invalid value; the
            message names line and key.
    """
    return ForgesFile() if path is None else _DOCUMENT.load(path)


def parse_forges(text: str, name: str) -> ForgesFile:
    """Read the file's text; `name` is its name in errors.

    Raises:
        InvalidInputError: as in `load_forges`.
    """
    return _DOCUMENT.parse(text, name)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    return ForgesFile.model_json_schema()


def credentials_of(
    file: ForgesFile, environ: Mapping[str, str], open_client: OpenClient = forge_client
) -> Credentials:
    """Return the file's credentials; their secrets are read when they are used."""

    def exchange(entry: CredentialEntry) -> Exchange | None:
        if entry.app is None:
            return None
        return GitHubApp(open_client, entry.api, entry.app, entry.installation).token

    rules = {
        name: CredentialRule(
            place=each.place,
            urls=tuple(each.urls),
            username=each.username,
            exchange=exchange(each),
            known_hosts=None if each.known_hosts is None else Path(each.known_hosts),
        )
        for name, each in file.credentials.items()
    }
    return Credentials(rules, environ)


def _complaint(error: ErrorDetails) -> Complaint:
    place = place_of(error)
    message = error["msg"].removeprefix("Value error, ")
    if not place:  # an error of the whole file names the key in its message
        key, _, message = message.partition(": ")
        place = tuple(int(each) if each.isdigit() else each for each in key.split("."))
    if error["type"] == "extra_forbidden":
        message = "is not known here"
    return Complaint(place, message)


_DOCUMENT = TomlDocument(ForgesFile, "FORGES_FILE", _complaint)
