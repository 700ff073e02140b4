"""GitHub's own description of its interface, and its own samples of deliveries.

Both are packages of npm that `make test` fetches. Without them, the tests that need them are skipped.
"""

import json
import re
import tarfile
from collections.abc import Iterator
from functools import cache, reduce
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft4Validator, validators
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from tests.forge_double import Exchange

PLACE = Path(__file__).parents[2] / ".venv" / "forge-samples"
DESCRIPTION = ("octokit-openapi-23.0.2.tgz", "package/generated/api.github.com.json")
SAMPLES = ("octokit-webhooks-examples-7.6.1.tgz", "package/api.github.com/index.json")

_ROOT = "urn:github"
Complaints = list[str]


def sample_deliveries() -> list[tuple[str, dict[str, Any]]]:
    """Each sample as the name of its event and its payload; skips the test where they are not there."""
    return [(each["name"], payload) for each in _read(*SAMPLES) for payload in each["examples"]]


def complaints_about(exchange: Exchange) -> Complaints:
    """Say what of a request or its answer GitHub's description does not know.

    An answer may leave out what a real one always has, but each of its fields must exist and have its type.
    """
    description = _read(*DESCRIPTION)
    found = _operation(description, exchange)
    if found is None:
        return [f"{exchange.method} {exchange.path} does not exist"]
    said: Complaints = []
    wanted = found.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if exchange.body is not None and wanted is None:
        said.append(f"{exchange.method} {exchange.path} takes no body")
    elif wanted is not None and (exchange.body is not None or found["requestBody"].get("required")):
        said += [f"request: {each}" for each in _errors(wanted, exchange.body, strict=True)]
    answer = found["responses"].get(str(exchange.status))
    if answer is None:
        return [*said, f"{exchange.method} {exchange.path} does not answer {exchange.status}"]
    schema = _resolved(description, answer).get("content", {}).get("application/json", {}).get("schema")
    if schema is not None:
        said += [f"answer: {each}" for each in _errors(schema, exchange.answer, strict=False)]
        said += [f"answer: {each}" for each in _unknown(description, schema, exchange.answer)]
    return [f"{exchange.method} {exchange.path}: {each}" for each in said]


@cache
def _read(archive: str, member: str) -> Any:
    path = PLACE / archive
    if not path.exists():
        pytest.skip(f"{path.name} is not there; `python .ci/forge_samples.py` fetches it")
    with tarfile.open(path) as opened:
        content = opened.extractfile(member)
        assert content is not None
        return json.load(content)


def _operation(description: dict[str, Any], exchange: Exchange) -> dict[str, Any] | None:
    """Find the operation of a request, the one with the fewest variables in its path first."""
    paths = sorted(description["paths"], key=lambda each: each.count("{"))
    for path in paths:
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))
        operation = description["paths"][path].get(exchange.method.lower())
        if operation is not None and re.fullmatch(pattern, exchange.path):
            return cast("dict[str, Any]", operation)
    return None


def _errors(schema: dict[str, Any], value: Any, *, strict: bool) -> Iterator[str]:
    validator = (_Strict if strict else _Lenient)(_at_home(schema), registry=_registry())
    for error in validator.iter_errors(value):
        yield f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"


@cache
def _registry() -> Registry[Any]:
    whole = Resource(contents=_read(*DESCRIPTION), specification=DRAFT4)
    return Registry[Any]().with_resource(_ROOT, whole)


def _at_home(value: Any) -> Any:
    """Let references of a part lead into the whole description."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {
            name: f"{_ROOT}{each}" if name == "$ref" and str(each).startswith("#") else _at_home(each)
            for name, each in table.items()
        }
    return [_at_home(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _resolved(description: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        names = str(part["$ref"]).removeprefix("#/").split("/")
        part = reduce(lambda here, name: here[name], names, description)
    return part


def _unknown(description: dict[str, Any], schema: dict[str, Any], value: Any) -> Iterator[str]:
    """Name the fields of an answer that GitHub's never has."""
    schema = _resolved(description, schema)
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _unknown(description, schema.get("items", {}), each)
    elif isinstance(value, dict):
        known = _properties(description, schema)
        for name, each in cast("dict[str, Any]", value).items():
            if known and name not in known:
                yield f"{name} is no field"
            elif known:
                yield from _unknown(description, known[name], each)


def _properties(description: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    schema = _resolved(description, schema)
    known = dict(schema.get("properties", {}))
    for kind in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(kind, []):
            known |= _properties(description, each)
    return known


def _nullable(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if instance is None and schema.get("nullable"):
        return
    yield from Draft4Validator.VALIDATORS["type"](validator, types, instance, schema)


def _nullable_enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if instance is None and schema.get("nullable"):
        return
    yield from Draft4Validator.VALIDATORS["enum"](validator, values, instance, schema)


def _anything(validator: Any, required: Any, instance: Any, schema: Any) -> Iterator[Any]:
    yield from ()


def _nullable_any(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if instance is None and schema.get("nullable"):
        return
    yield from Draft4Validator.VALIDATORS["anyOf"](validator, schemas, instance, schema)


_RULES: dict[str, Any] = {
    "type": _nullable,
    "enum": _nullable_enum,
    "anyOf": _nullable_any,
    "oneOf": _nullable_any,
}
_Strict: Any = validators.extend(Draft4Validator, _RULES)
_Lenient: Any = validators.extend(Draft4Validator, {**_RULES, "required": _anything})
