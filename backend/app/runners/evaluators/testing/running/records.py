"""Reads the signed records of a test run."""

import json
from collections.abc import Iterable, Iterator
from hmac import compare_digest
from typing import Any, cast

from app.runners.evaluators.testing.running.secret import CODE_DIGITS, RunSecret, code_of


def read_records(stream: bytes, secret: RunSecret) -> tuple[list[dict[str, Any]], bool]:
    """Parse records from the start of a stream up to the first invalid one. Return whether there was one."""
    lines = stream.split(b"\n")
    records = list(_in_turn(lines, secret.key))
    whole = not lines[-1] and len(records) == len(lines) - 1
    return records, not whole


def _in_turn(lines: Iterable[bytes], key: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records up to the first that is cut, not JSON, out of turn, or not from the runner."""
    code = b""
    for number, signed in enumerate(lines, start=1):
        line, claimed = signed[: -CODE_DIGITS - 1], signed[-CODE_DIGITS:]
        code = code_of(key, code, line)
        if not compare_digest(code, claimed):
            return
        fields = _fields(line)
        in_place = fields.get("n") == number and isinstance(fields.get("kind"), str)
        if not in_place or (fields["kind"] == "start") != (number == 1):
            return
        yield fields


def _fields(line: bytes) -> dict[str, Any]:
    try:
        record: object = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, Any]", record) if isinstance(record, dict) else {}
