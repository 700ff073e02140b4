"""Every error as RFC 9457 problem details, rendered in one place."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from app.core.errors import PhaseRunnerError

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
_TYPE_PREFIX = "urn:phaserunner:problem:"
_SHOWN_INPUT_CHARS = 60


class FieldError(BaseModel):
    """What is wrong with one field; `field` is its path, such as `source.path`."""

    field: str
    message: str


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    errors: list[FieldError] = []


RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"description": text, "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}}
    for code, text in ((404, "There is no such thing"), (409, "The state has changed"), (422, "Bad input"))
}


def install(app: FastAPI) -> None:
    """Render every error of the application."""
    app.add_exception_handler(PhaseRunnerError, _ours)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def problem(
    status: int, code: str, title: str, detail: str, members: Mapping[str, Any] | None = None
) -> JSONResponse:
    """One problem document."""
    body = {"type": f"{_TYPE_PREFIX}{code}", "title": title, "status": status, "detail": detail}
    return JSONResponse({**body, **(members or {})}, status, media_type=MEDIA_TYPE)


def render(error: PhaseRunnerError) -> JSONResponse:
    """An error of ours as a problem document."""
    members = dict(error.extra)
    detail = error.detail
    if error.field:
        members |= {"field": error.field, "errors": [{"field": error.field, "message": error.detail}]}
        detail = f"{error.field}: {error.detail}"
    return problem(error.status, error.code, error.title, detail, members)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PhaseRunnerError)  # noqa: S101 - registered for it
    return render(error)


async def _validation(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    errors = [_field_error(each) for each in error.errors()]
    detail = f"{errors[0]['field']}: {errors[0]['message']}" if errors else "the request is not valid"
    members = {"field": errors[0]["field"] if errors else None, "errors": errors}
    return problem(422, "invalid-input", "The input is not valid", detail, members)


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    title = HTTPStatus(error.status_code).phrase
    response = problem(error.status_code, title.lower().replace(" ", "-"), title, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "internal-error", "The service failed", "an unexpected error; the log has it")


def _field_error(error: Mapping[str, Any]) -> dict[str, str]:
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "")
        return {"field": "body", "message": f"not valid JSON: {reason} at position {error['loc'][-1]}"}
    message = str(error["msg"]).removeprefix("Value error, ")
    given = error.get("input")
    if isinstance(given, int | float) or (isinstance(given, str) and len(given) <= _SHOWN_INPUT_CHARS):
        message = f"{message} (given: {given!r})"
    return {"field": _path(error["loc"]), "message": message}


def _path(location: Sequence[int | str]) -> str:
    # The first part says where the field is (body, query, path); for a field of the body it is understood.
    parts = [str(part) for part in location]
    if len(parts) > 1 and parts[0] in ("body", "query", "path", "header"):
        parts = parts[1:]
    return ".".join(parts)
