"""Acts as a GitHub App: gets short-lived tokens in exchange for proofs signed with its private key.

A JSON Web Token signed with the key is exchanged for a token of the App's installation, which expires after
an hour. See "Authenticating as a GitHub App installation" in GitHub's documentation.
"""

import time
from datetime import datetime
from typing import Any

import anyio
import jwt
from jwt.exceptions import InvalidKeyError, PyJWTError

from app.core.errors import UnavailableError
from app.forges.github import GITHUB
from app.forges.port import ForgeError
from app.forges.rest import OpenClient, RestApi

_LIFETIME_SECONDS = 9 * 60
"""GitHub accepts at most ten minutes, and its clock may be ahead."""

_CLOCK_SKEW_SECONDS = 60
_RENEWED_BEFORE_SECONDS = 5 * 60
_PER_PAGE = "100"


class GitHubApp:
    """One installation of a GitHub App.

    Args:
        open_client: makes a client for one request.
        api: base URL of the API.
        app: client ID or number of the App.
        installation: number of the installation; None if the App has only one.
    """

    def __init__(self, open_client: OpenClient, api: str, app: str, installation: int | None = None) -> None:
        self._open_client = open_client
        self._api = api
        self._app = app
        self._installation = installation
        self._lock = anyio.Lock()
        self._token = ""
        self._expires = 0.0

    async def token(self, key: str) -> str:
        """Return a token of the installation that stays valid for at least some minutes.

        Args:
            key: the App's private key, as PEM.

        Raises:
            UnavailableError: the key is invalid, GitHub refuses it, or it is unclear
                which installation to use.
        """
        async with self._lock:
            if time.time() > self._expires - _RENEWED_BEFORE_SECONDS:
                try:
                    await self._renew(key)
                except ForgeError as error:
                    raise UnavailableError(f"the GitHub App {self._app} gets no token: {error}") from error
            return self._token

    async def _renew(self, key: str) -> None:
        signed = self._signed(key)

        async def jwt_of_app() -> str:
            return signed

        api = RestApi(GITHUB, self._open_client, self._api, jwt_of_app)
        installation = self._installation or await self._only_installation(api)
        made = await api.call("POST", f"/app/installations/{installation}/access_tokens")
        self._expires = datetime.fromisoformat(made["expires_at"]).timestamp()
        self._token = str(made["token"])

    async def _only_installation(self, api: RestApi) -> int:
        found: list[dict[str, Any]] = await api.call(
            "GET", "/app/installations", query={"per_page": _PER_PAGE}
        )
        if len(found) == 1:
            return int(found[0]["id"])
        names = ", ".join(f"{each['id']} ({each['account']['login']})" for each in found)
        raise ForgeError(
            f"it has {len(found)} installations; name one as `installation` in FORGES_FILE: {names}"
            if found
            else "it is not installed anywhere; install it on the repositories first"
        )

    def _signed(self, key: str) -> str:
        now = int(time.time())
        claims = {"iat": now - _CLOCK_SKEW_SECONDS, "exp": now + _LIFETIME_SECONDS, "iss": self._app}
        try:
            return jwt.encode(claims, key, algorithm="RS256")
        except (PyJWTError, InvalidKeyError, ValueError, TypeError) as error:
            raise UnavailableError(
                f"the GitHub App {self._app} has no private key: its secret is no RSA key in PEM form"
            ) from error
