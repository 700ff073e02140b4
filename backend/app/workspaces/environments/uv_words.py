"""The environment variables for uv, and what its error messages mean."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.workspaces.environments.outcome import Reason

# uv gets the settings that an operator made for pip.
_FROM_PIP = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
}
_SET_INSTEAD = {
    "UV_DEFAULT_INDEX": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "UV_INDEX": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
    "UV_FIND_LINKS": ("UV_FIND_LINKS",),
}
_PASSED_ON = frozenset(
    {
        *(
            "UV_DEFAULT_INDEX",
            "UV_INDEX",
            "UV_INDEX_URL",
            "UV_EXTRA_INDEX_URL",
            "UV_FIND_LINKS",
            "UV_NO_INDEX",
        ),
        *("UV_INDEX_STRATEGY", "UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_HTTP_TIMEOUT"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    }
)
_PYTHON_PLACES = ("PATH", "HOME", "UV_PYTHON_INSTALL_DIR", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR")
_CREDENTIALS = re.compile(r"^UV_INDEX_[A-Z0-9_]+_(?:USERNAME|PASSWORD)$")

_USER_INFO = re.compile(r"://[^/\s]*@")

_OFFLINE = re.compile(
    r"network (?:was|is) disabled|error sending request|dns error|failed to fetch|request failed|"
    r"client error \(Connect\)|connection|timed out|name resolution|git operation failed",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"building source distributions is disabled|no usable wheels|failed to build|--no-build|build backend",
    re.IGNORECASE,
)
_UNRESOLVABLE = re.compile(
    r"no solution found|requirements are unsatisfiable|not found in the package registry"
    r"|couldn't parse requirement",
    re.IGNORECASE,
)


def uv_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process's environment that uv needs: indexes, proxies and certificates."""
    chosen = {
        name: value
        for name, value in environ.items()
        if value and (name.upper() in _PASSED_ON or _CREDENTIALS.match(name))
    }
    for theirs, ours in _FROM_PIP.items():
        if environ.get(theirs) and not any(environ.get(name) for name in _SET_INSTEAD[ours]):
            chosen[ours] = environ[theirs]
    return chosen


def has_credentials(env: Mapping[str, str]) -> bool:
    """Return True if variables for uv hold a name or a password, which a build could read."""
    return any(_CREDENTIALS.match(name) or _USER_INFO.search(value) for name, value in env.items())


def search_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say where to look for Python versions."""
    return {name: environ[name] for name in _PYTHON_PLACES if name in environ}


def reason_of(said: str) -> Reason:
    """Classify uv's error output.

    The order matters, because without a network nothing can be resolved either.
    """
    for pattern, reason in (
        (_OFFLINE, Reason.OFFLINE),
        (_BUILD, Reason.BUILD),
        (_UNRESOLVABLE, Reason.UNRESOLVABLE),
    ):
        if pattern.search(said):
            return reason
    return Reason.FAILED


def local_places(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the existing files and directories on this machine that uv's settings name."""
    words = [word for value in env.values() for word in re.split(r"[\s,]+", value)]
    words = [word.partition("=")[2] if re.match(r"\w+=", word) else word for word in words]
    paths = (
        Path(unquote(urlsplit(word).path)) if word.startswith("file:") else Path(word)
        for word in words
        if word
    )
    return tuple(
        sorted({path for path in paths if path.is_absolute() and path != Path("/") and path.exists()})
    )
