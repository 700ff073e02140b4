"""The OpenAPI document: FastAPI's, with problem details and tokens described once."""

from typing import Any

from fastapi import FastAPI

from app.api.edge.problems import MEDIA_TYPE, Problem
from app.core.event_frames import CLIENT_FRAME_ADAPTER, SERVER_FRAME_ADAPTER
from app.schemas.api.loops import LoopCreate

_REFERENCE = "#/components/schemas/{model}"
_DESCRIPTIONS = {
    400: "The request is not valid",
    401: "A valid token is required",
    403: "The host, origin or role is not allowed",
    404: "Not found",
    405: "The path does not support this method; `Allow` lists those it does",
    408: "The request did not arrive in time",
    409: "The state has changed",
    413: "The body is too large",
    415: "The body's media type is not supported",
    422: "A field is not valid; `errors` names each one",
    429: "Too many requests with a wrong token",
    431: "The request's headers are too large",
    503: "The database cannot be reached",
    507: "The disk is full",
}

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(model="Problem")}}},
    }
    for status, description in _DESCRIPTIONS.items()
}
"""The problem responses of every route."""


def describe(app: FastAPI) -> dict[str, Any]:
    """Return FastAPI's document with the parts that FastAPI cannot know."""
    document = FastAPI.openapi(app)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas.update(_with_parts("Problem", Problem.model_json_schema(ref_template=_REFERENCE)))
    for name, adapter in (("ClientFrame", CLIENT_FRAME_ADAPTER), ("ServerFrame", SERVER_FRAME_ADAPTER)):
        schemas.update(_with_parts(name, adapter.json_schema(ref_template=_REFERENCE, mode="serialization")))
    # The route reads the body itself, because the body may be XML.
    schemas.update(_with_parts("LoopCreate", LoopCreate.model_json_schema(ref_template=_REFERENCE)))
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    # The empty alternative is for services on loopback without any token.
    document["security"] = [{"token": []}, {}]
    return document


def _with_parts(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema and those that it refers to, by name."""
    return {**schema.pop("$defs", {}), name: schema}
