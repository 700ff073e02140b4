"""The OpenAPI document: FastAPI's, with problem details and tokens described once."""

from typing import Any

from fastapi import FastAPI

from app.api.problems import MEDIA_TYPE, Problem

_REFERENCE = "#/components/schemas/{model}"
_DESCRIPTIONS = {
    401: "No valid token, where one is needed",
    403: "Not from here, or not with this role",
    404: "There is no such thing",
    409: "The state has changed",
    413: "The body is too large",
    422: "A field is not valid; `errors` name each",
    503: "The database cannot be reached",
}

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(model="Problem")}}},
    }
    for status, description in _DESCRIPTIONS.items()
}
"""What every route of the API may answer instead of what was asked for."""


def describe(app: FastAPI) -> dict[str, Any]:
    """Give FastAPI's document with what it cannot know."""
    document = FastAPI.openapi(app)
    components = document.setdefault("components", {})
    schema = Problem.model_json_schema(ref_template=_REFERENCE)
    components.setdefault("schemas", {}).update(schema.pop("$defs"), Problem=schema)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    # Without tokens where the service listens on loopback and none exists.
    document["security"] = [{"token": []}, {}]
    return document
