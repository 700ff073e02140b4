"""The REST API as the command line uses it: typed responses, and errors as one line with an exit code."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from urllib.parse import urlsplit
from uuid import UUID

import httpx
from pydantic import BaseModel, ValidationError

from app.cli.exits import CliError, ExitCode
from app.cli.view.text import one_line
from app.schemas.api.escalations import EscalationPage, EscalationResolve, EscalationView
from app.schemas.api.runs import RunDetail, RunPage, RunView
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import RunKind

if TYPE_CHECKING:
    # Every command imports this module; few of them need what these bring along.
    from app.core.websocket_events import Event
    from app.schemas.api.answers import AnswerCreate, AnswerDetail
    from app.schemas.api.loops import LoopCreate, LoopDetail

PREFIX = "/api/v1"
PAGE = 100
EVENTS_PAGE = 1000
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_START_TIMEOUT = httpx.Timeout(600.0, connect=5.0)  # starting fetches the source
_START_TRIES = 3
_PAUSE_SECONDS = 0.5
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Params = Mapping[str, str | list[str]]
"""Of a query; a list is one parameter that is repeated."""

ViewT = TypeVar("ViewT", bound=BaseModel)


class _Source(BaseModel):
    notes: list[str] = []


class StartedSprint(RunView):
    """A sprint that was started, and what its source looked like."""

    source: _Source = _Source()

    @property
    def notes(self) -> list[str]:
        """What the import left out, such as uncommitted changes."""
        return self.source.notes


class _EventPage(BaseModel):
    events: list[dict[str, Any]]
    head: int
    next_after: int


class ApiClient:
    """Talks to one service.

    Every method raises `CliError` with the exit code that fits: 2 for input the service refuses, 4 for
    missing rights, 5 when it cannot be reached or is not PhaseRunner, 6 when it has trouble itself.

    Args:
        url: address of the service, `http://127.0.0.1:8000`.
        token: sent as a bearer token.
        user: who decides, where the service knows no tokens.
        transport: carries the requests; None is the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        user: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CliError(f"--url: {one_line(url)} is not an address such as http://127.0.0.1:8000")
        self.url = url.rstrip("/")
        self.has_token = bool(token)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if user:
            headers["X-PhaseRunner-User"] = user.encode("ascii", "backslashreplace").decode()
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=_TIMEOUT,
            transport=transport,
            # A proxy for the internet does not lead to this machine.
            trust_env=parts.hostname not in _LOOPBACK,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def start(self, sprint: SprintCreate, key: str) -> StartedSprint:
        """Start a sprint. Repeating it with the same `key` is safe, so a lost response is asked for again."""
        return await self._start("/sprints", sprint, StartedSprint, key)

    async def start_loop(self, loop: "LoopCreate", key: str) -> "LoopDetail":
        """Start a director-evaluator loop; safe to repeat, as `start` is."""
        from app.schemas.api.loops import LoopDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self._start("/loops", loop, LoopDetail, key)

    async def start_answer(self, answer: "AnswerCreate", key: str) -> "AnswerDetail":
        """Ask for an answer; safe to repeat, as `start` is."""
        from app.schemas.api.answers import AnswerDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self._start("/answers", answer, AnswerDetail, key)

    async def answer(self, answer_id: UUID) -> "AnswerDetail":
        """Get one answer with every attempt."""
        from app.schemas.api.answers import AnswerDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self._get(AnswerDetail, f"/answers/{answer_id}")

    async def loop(self, loop_id: UUID) -> "LoopDetail":
        """Get one loop with every iteration."""
        from app.schemas.api.loops import LoopDetail  # noqa: PLC0415 - only for this call: keeps start-up quick

        return await self._get(LoopDetail, f"/loops/{loop_id}")

    async def whole(self, run_id: UUID) -> Any:
        """Get one run as its own kind is shown."""
        run = await self.run(run_id)
        if run.kind is RunKind.DIRECTOR_LOOP:
            return (await self.loop(run_id)).model_dump(mode="json", by_alias=True)
        if run.kind is RunKind.ANSWER:
            return (await self.answer(run_id)).model_dump(mode="json")
        return run.model_dump(mode="json")

    async def run(self, run_id: UUID) -> RunDetail:
        """Get one run with what runs of every kind have in common."""
        return await self._get(RunDetail, f"/runs/{run_id}")

    async def runs(self, limit: int = PAGE, **filters: str | list[str]) -> AsyncGenerator[RunView]:
        """List runs of every kind over all pages, newest first unless `sort` differs."""
        cursor: str | None = None
        while True:
            params: Params = {"limit": str(limit), **filters} | ({"cursor": cursor} if cursor else {})
            page = await self._get(RunPage, "/runs", params)
            for each in page.items:
                yield each
            cursor = page.next_cursor
            if cursor is None:
                return

    async def cancel(self, run_id: UUID, reason: str) -> Any:
        """Cancel a run."""
        return await self.json("POST", f"/runs/{run_id}/cancel", body={"reason": reason})

    async def escalations(self, status: str | None = "open") -> AsyncGenerator[EscalationView]:
        """List escalations over all pages, oldest first; None is any status."""
        cursor: str | None = None
        while True:
            params = {"limit": str(PAGE)} | ({"status": status} if status else {})
            params |= {"cursor": cursor} if cursor else {}
            page = await self._get(EscalationPage, "/escalations", params)
            for each in page.items:
                yield each
            cursor = page.next_cursor
            if cursor is None:
                return

    async def escalation(self, escalation_id: UUID) -> EscalationView:
        """Get one escalation."""
        return await self._get(EscalationView, f"/escalations/{escalation_id}")

    async def resolve(self, escalation_id: UUID, decision: EscalationResolve) -> Any:
        """Resolve an escalation."""
        body = decision.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        return await self.json("POST", f"/escalations/{escalation_id}/resolve", body=body)

    async def events(self, run_id: UUID) -> "AsyncGenerator[Event]":
        """List the events stored so far, in order."""
        from app.cli.follow import parse_event  # noqa: PLC0415 - only for this call: keeps start-up quick

        after, head = 0, 1
        while after < head:
            params = {"after": str(after), "limit": str(EVENTS_PAGE)}
            page = await self._get(_EventPage, f"/runs/{run_id}/events", params)
            for item in page.events:
                if event := parse_event(item):
                    yield event
            if not page.events:
                return
            after, head = page.next_after, page.head

    async def json(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:
        """Ask for a JSON document as it is."""
        return _document(await self._request(method, path, params, body))

    async def fetch(self, path: str, method: str = "GET") -> httpx.Response:
        """Ask for a document that need not be JSON."""
        return await self._request(method, path, None, None)

    async def download(self, path: str, to: Path, params: Params | None = None) -> int:
        """Write a document to a file.

        Returns:
            The number of bytes.
        """
        response = await self._request("GET", path, params, None)
        try:
            return await asyncio.to_thread(to.write_bytes, response.content)
        except OSError as error:
            raise CliError(f"{to} cannot be written: {error.strerror}") from error

    async def is_ready(self) -> bool:
        """True when the service says that it can work; never raises."""
        try:
            return (await self._http.get("/readyz", timeout=5.0)).is_success
        except httpx.HTTPError:
            return False

    async def _start(self, path: str, request: BaseModel, view: type[ViewT], key: str) -> ViewT:
        body = request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        # The source is sent even where it is the default: its kind tells which one it is.
        source = request.model_dump(mode="json", include={"source"}, exclude_none=True)
        return _read(view, self._checked(await self._post_again(PREFIX + path, body | source, key)))

    async def _get(self, kind: type[ViewT], path: str, params: Params | None = None) -> ViewT:
        return _read(kind, await self._request("GET", path, params, None))

    async def _request(
        self, method: str, path: str, params: Params | None, body: Mapping[str, Any] | None
    ) -> httpx.Response:
        try:
            response = await self._http.request(method, PREFIX + path, params=params, json=body)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return self._checked(response)

    async def _post_again(self, path: str, body: Mapping[str, Any], key: str) -> httpx.Response:
        tries = 0
        while True:
            tries += 1
            try:
                return await self._http.post(
                    path, json=body, headers={"Idempotency-Key": key}, timeout=_START_TIMEOUT
                )
            except httpx.TransportError as error:
                is_lost_response = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
                if not is_lost_response or tries == _START_TRIES:
                    raise self._unreachable(error) from error
            await asyncio.sleep(_PAUSE_SECONDS)

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        if response.is_redirect:
            raise CliError(f"--url: {self.url} answers with a redirect", ExitCode.TRANSPORT)
        raise _problem(response)

    def _unreachable(self, error: httpx.TransportError) -> CliError:
        if isinstance(error, httpx.ConnectError):
            message = (
                f"no server answers at {self.url}; start one with `phaserunner serve`, or name it with --url"
            )
        else:
            message = f"the connection to {self.url} failed: {one_line(str(error) or type(error).__name__)}"
        return CliError(message, ExitCode.TRANSPORT)


def exit_code_of(status: int) -> ExitCode:
    """The exit code for an HTTP status that is an error."""
    if status in (401, 403):
        return ExitCode.AUTH
    if status == 409:
        return ExitCode.FAILED
    return ExitCode.INFRASTRUCTURE if status >= 500 or status == 429 else ExitCode.USAGE


def _problem(response: httpx.Response) -> CliError:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        text = f"{response.url} answered {response.status_code} and is not PhaseRunner's API; check --url"
        return CliError(text, ExitCode.TRANSPORT)
    problem = cast("dict[str, Any]", document)
    detail = str(
        problem.get("detail") or problem.get("title") or f"the service answered {response.status_code}"
    )
    field = problem.get("field")
    message = f"{field}: {detail}" if field and not detail.startswith(str(field)) else detail
    if response.status_code == 401:
        message += "; give a token with --token or PHASERUNNER_TOKEN"
    return CliError(one_line(message, 1000), exit_code_of(response.status_code))


def _document(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        text = f"{response.url} does not answer in JSON; is it PhaseRunner? Check --url"
        raise CliError(text, ExitCode.TRANSPORT) from error


def _read(kind: type[ViewT], response: httpx.Response) -> ViewT:
    try:
        return kind.model_validate(_document(response))
    except ValidationError as error:
        from app.cli.follow import strange  # noqa: PLC0415 - only for this call: keeps start-up quick

        raise strange(response.url.path, error) from error
