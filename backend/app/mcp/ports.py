"""What the MCP server needs: an evaluation of directories, and a service's REST API."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport


class ServiceRefusedError(Exception):
    """The service cannot be reached or refuses; the message says why and what to do."""


class Evaluating(Protocol):
    """Evaluates directories on this machine."""

    async def judge(self, request: EvaluateRequest) -> EvaluationReport:
        """Evaluate a copy of a directory.

        Raises:
            PhaseRunnerError: the path or the base cannot be used.
        """
        ...


class ServiceClient(Protocol):
    """A service's REST API, with the rights of one caller."""

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make a request and return the JSON document.

        Raises:
            ServiceRefusedError: the service returns no document.
        """
        ...

    async def start(self, fields: Mapping[str, Any]) -> Any:
        """Start a sprint from the members of its request; repeating it after a lost response starts no other.

        Raises:
            ServiceRefusedError: the sprint did not start.
        """
        ...


OpenEvaluating = Callable[[], AbstractAsyncContextManager[Evaluating]]
OpenService = Callable[[str | None], AbstractAsyncContextManager[ServiceClient]]
"""Opens the service with a caller's token; None stands for the token of this process."""
