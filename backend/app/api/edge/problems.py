"""Renders every error as RFC 9457 problem details."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from app.core.errors import (
    DiskFullError,
    NotFoundError,
    PayloadTooLargeError,
    PhaseRunnerError,
    UnauthorizedError,
    UnavailableError,
)
from app.core.field_paths import field_path
from app.db.outages import is_disk_full, is_outage
from app.schemas.text import storable_json

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
LINKS = "/decide/"
"""The beginning of the paths of decision links, whose rest is a token."""

_TYPE_PREFIX = "urn:phaserunner:problem:"
_SHOWN_INPUT_CHARS = 60
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")

HANDLED = (
    PhaseRunnerError,
    RequestValidationError,
    HTTPException,
    DBAPIError,
    NoConnectionError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    OSError,
    Exception,
)
"""The framework looks up handlers by class, and does not re-raise those listed beside `Exception`."""


class FieldError(BaseModel):
    """The problem with one field; `field` is its path, such as `source.path`."""

    field: str
    message: str


class Problem(BaseModel):
    """RFC 9457 problem details. A conflict can have more members, such as `decided_by` and `decided_at`."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    errors: list[FieldError] = []


def install(app: FastAPI) -> None:
    """Render every error of the application."""
    for kind in HANDLED:
        app.add_exception_handler(kind, _handle)


def problem(
    status: int, code: str, title: str, detail: str, members: Mapping[str, Any] | None = None
) -> JSONResponse:
    """Return a problem document."""
    body = {"type": f"{_TYPE_PREFIX}{code}", "title": title, "status": status, "detail": detail}
    return JSONResponse(storable_json({**body, **(members or {})}), status, media_type=MEDIA_TYPE)


def render(error: PhaseRunnerError) -> JSONResponse:
    """Render a known error as a problem document."""
    members = dict(error.extra)
    detail = error.detail
    if error.field:
        members |= {"field": error.field, "errors": [{"field": error.field, "message": error.detail}]}
        detail = f"{error.field}: {error.detail}"
    response = problem(error.status, error.code, error.title, detail, members)
    if isinstance(error, UnauthorizedError):
        response.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, UnavailableError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def known_error(error: Exception, what: str) -> PhaseRunnerError | None:
    """Say what an error means to the caller, or return None if it is none that the service knows.

    The log names an outage or a full disk by `what`.
    """
    if isinstance(error, PhaseRunnerError):
        return error
    if is_disk_full(error):
        logger.error("%s: the disk is full: %s", what, error)
        return DiskFullError("the disk is full; nothing was stored")
    if is_outage(error):
        logger.warning("%s: cannot reach the database: %s", what, error)
        return UnavailableError("the database cannot be reached; try again soon")
    return None


def response_to(error: Exception, what: str) -> JSONResponse:
    """Render any error as a problem document; the log names an unexpected error by `what`."""
    if known := known_error(error, what):
        return render(known)
    match error:
        case RequestValidationError():
            return _invalid(error)
        case HTTPException():
            return _http(error, what)
        case _:
            logger.error("%s failed", what, exc_info=error)
            return problem(500, "internal-error", "The service failed", "unexpected error; see the log")


def name_of(scope: Scope) -> str:
    """Return the method and path of a request for logs and errors, without the token of a decision link."""
    path: str = scope["path"]
    is_link = path.startswith(LINKS) and path != LINKS
    return f"{scope['method']} {LINKS}…" if is_link else f"{scope['method']} {path}"


async def _handle(request: Request, error: Exception) -> JSONResponse:
    response = response_to(error, name_of(request.scope))
    if response.status_code == 405:
        response.headers["Allow"] = ", ".join(_methods(request))
    return response


def _methods(request: Request) -> list[str]:
    """Return all methods of a path: several routes may share it, and the framework names those of one."""
    routes: Sequence[BaseRoute] = request.app.router.routes
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    return [
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in routes)
    ]


def _invalid(error: RequestValidationError) -> JSONResponse:
    errors = [_field_error(each, error.body) for each in error.errors()]
    first = errors[0]
    members = {"field": first["field"], "errors": errors}
    return problem(
        422, "invalid-input", "The input is not valid", f"{first['field']}: {first['message']}", members
    )


def _http(error: HTTPException, what: str) -> JSONResponse:
    match error.status_code:
        case 404:
            response = render(NotFoundError(f"{what}: not found"))
        case 405:
            detail = f"{what}: this path does not support this method"
            response = problem(405, "method-not-allowed", "Method not allowed", detail)
        case 413:
            response = render(PayloadTooLargeError(error.detail))
        case _:
            response = problem(error.status_code, "bad-request", "The request is not valid", error.detail)
    response.headers.update(error.headers or {})
    return response


def _field_error(error: Mapping[str, Any], body: object) -> dict[str, str]:
    if error["loc"][0] == "body" and isinstance(
        body, bytes
    ):  # the framework parses bodies only if they are said to be JSON
        return {"field": "body", "message": "send JSON, with the header Content-Type: application/json"}
    if error["type"] == "model_attributes_type" and error["loc"] == ("body",):
        return {"field": "body", "message": "must be a JSON object"}
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "")
        return {"field": "body", "message": f"not valid JSON: {reason} at position {error['loc'][-1]}"}
    message = str(error["msg"]).removeprefix("Value error, ")
    given = error.get("input")
    if isinstance(given, int | float) or (isinstance(given, str) and len(given) <= _SHOWN_INPUT_CHARS):
        message = f"{message} (given: {given!r})"
    is_missing = error["type"] == "missing"
    return {"field": field_path(error["loc"], body, is_missing=is_missing), "message": message}
