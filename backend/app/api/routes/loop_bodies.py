"""Reads the body of a request that starts a loop: the documented XML, or JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from app.api.edge.strict_json import read_json
from app.core.errors import InvalidInputError, UnsupportedMediaTypeError
from app.schemas.api.loops import LoopCreate
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.xml import LoopDefinitionError

XML_TYPES = ("application/xml", "text/xml")
JSON_TYPE = "application/json"


def read_loop(
    content_type: str, body: bytes, given: Sequence[str], query: str, name: str | None
) -> LoopCreate:
    """Read a request.

    Args:
        content_type: the body's content type.
        body: the definition; in JSON also an object with the definition, inputs, source and agent.
        given: `name=value` for each input, in addition to those in the body.
        query: the user's request; replaces the one in the body.
        name: the name in lists; replaces the one in the body.

    Raises:
        UnsupportedMediaTypeError: the body is neither XML nor JSON.
        InvalidInputError: the definition cannot be used; the error names line and element, or the field.
        RequestValidationError: something else in the body is not valid.
    """
    fields = _fields(content_type.partition(";")[0].strip().lower(), body)
    if not isinstance(fields.get("inputs", {}), dict):
        raise InvalidInputError("must be an object of names and texts", field="inputs")
    inputs = {**fields.get("inputs", {}), **_inputs(given)}
    more = {"query": query, "name": name, "inputs": inputs}
    try:
        return LoopCreate.model_validate({**fields, **{key: each for key, each in more.items() if each}})
    except ValidationError as error:
        faults = [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
        raise RequestValidationError(faults, body=fields) from error


def refused(error: LoopDefinitionError, within: str = "") -> InvalidInputError:
    """Return the error that tells a client why a definition cannot be used."""
    place = ".".join(each for each in (within, error.element.replace("/", ".")) if each)
    line = f" (line {error.line})" if error.line else ""
    members: dict[str, Any] = {"element": error.element} if error.element else {}
    members |= {"line": error.line} if error.line else {}
    return InvalidInputError(f"{error.problem}{line}", field=place or "definition", **members)


def _fields(kind: str, body: bytes) -> dict[str, Any]:
    if kind in XML_TYPES:
        return {"definition": _from_xml(body)}
    if kind != JSON_TYPE:
        raise UnsupportedMediaTypeError(f"send {XML_TYPES[0]} or {JSON_TYPE}, not {kind or 'nothing'}")
    document = _document(body)
    if "definition" not in document:
        return {"definition": _from_json(body)}
    definition = document["definition"]
    if isinstance(definition, str):
        return {**document, "definition": _from_xml(definition, "definition")}
    return {**document, "definition": _from_json(json.dumps(definition), "definition")}


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        document = read_json(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"not valid JSON: {error}", field="body") from error
    if not isinstance(document, dict):
        raise InvalidInputError("must be an object", field="body")
    return cast("dict[str, Any]", document)


def _from_xml(text: str | bytes, within: str = "") -> DirectorEvaluatorLoop:
    try:
        return DirectorEvaluatorLoop.from_xml(text)
    except LoopDefinitionError as error:
        raise refused(error, within) from error


def _from_json(text: str | bytes, within: str = "") -> DirectorEvaluatorLoop:
    try:
        return DirectorEvaluatorLoop.from_json(text)
    except LoopDefinitionError as error:
        raise refused(error, within) from error


def _inputs(given: Sequence[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in given]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise InvalidInputError("write name=value", field="input")
    return {name: value for name, _, value in pairs}
