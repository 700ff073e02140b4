"""How errors become problem documents."""

import json
from typing import Any

import asyncpg
import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from app.api.edge.problems import name_of, response_to
from app.core.errors import ConflictError, InvalidInputError, PhaseRunnerError
from app.db.outages import is_outage


class _Driver(Exception):
    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("driver")
        self.sqlstate = sqlstate


OUTAGES: dict[str, tuple[Exception, bool]] = {
    "shutting down": (DBAPIError("SELECT", {}, _Driver("57P01")), True),
    "too many connections": (DBAPIError("SELECT", {}, _Driver("53300")), True),
    "a connection that broke": (
        DBAPIError("SELECT", {}, _Driver(None), connection_invalidated=True),
        True,
    ),
    "a connection that is closed": (InterfaceError("SELECT", {}, _Driver(None)), True),
    "no connection in time": (NoConnectionError("pool"), True),
    "refused": (ConnectionRefusedError(), True),
    "not in time": (TimeoutError(), True),
    "starting up": (asyncpg.CannotConnectNowError("starting"), True),
    "a wrong password": (asyncpg.InvalidPasswordError("no"), False),
    "a constraint": (IntegrityError("INSERT", {}, _Driver("23505")), False),
    "a statement that is wrong": (DBAPIError("SELEC", {}, _Driver("42601")), False),
    "a file that is not there": (FileNotFoundError(), False),
}


@pytest.mark.parametrize(("error", "outage"), OUTAGES.values(), ids=OUTAGES.keys())
def test_outages(error: Exception, outage: bool) -> None:
    assert is_outage(error) is outage
    assert response_to(error, "GET /x").status_code == (503 if outage else 500)


def test_a_log_never_names_the_token_of_a_decision_link() -> None:
    assert name_of({"method": "POST", "path": "/decide/abc.def"}) == "POST /decide/…"
    assert name_of({"method": "GET", "path": "/api/v1/runs"}) == "GET /api/v1/runs"


def test_a_full_disk_is_said() -> None:
    assert response_to(OSError(28, "No space left on device"), "GET /x").status_code == 507


def document(error: Exception) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(bytes(response_to(error, "GET /x").body))
    return body


def test_an_error_that_names_a_field() -> None:
    assert document(InvalidInputError("is not an absolute path", field="path")) == {
        "type": "urn:phaserunner:problem:invalid-input",
        "title": "The input is not valid",
        "status": 422,
        "detail": "path: is not an absolute path",
        "field": "path",
        "errors": [{"field": "path", "message": "is not an absolute path"}],
    }


def test_further_members() -> None:
    assert document(ConflictError("too late", decided_by="ada"))["decided_by"] == "ada"


@pytest.mark.parametrize("text", ["\ud800", "a\0b"], ids=["a lone surrogate", "NUL"])
def test_text_that_cannot_be_sent(text: str) -> None:
    assert document(PhaseRunnerError(text))["detail"]


def test_what_nobody_foresaw_is_not_told() -> None:
    assert "secret" not in json.dumps(document(ValueError("secret")))
