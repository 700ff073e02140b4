"""What only a test run and its reader know: the key of the records, and the canaries."""

import json
import os
import secrets
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from random import SystemRandom

CODE_DIGITS = 32

# How each kind of canary ends, unless reports are tampered with. `pytest_runner.canaries` has their bodies.
_PASSING = ("equal", "expected_error")
_SKIPPING = ("skip",)
_FAILING = (
    *("unequal", "unequal_texts", "unequal_lists", "untrue", "error"),
    *("no_error", "far_off", "fail", "unittest"),
)
_ALWAYS = "unequal"
_EXPECTED = {
    **dict.fromkeys(_PASSING, "passed"),
    **dict.fromkeys(_SKIPPING, "skipped"),
    **dict.fromkeys(_FAILING, "failed"),
}
_BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Canary:
    """A test that the runner adds. `name` is its function, `kind` determines its body."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class RunSecret:
    """The secret of one run: the key that signs the records, and the canaries before and after the tests."""

    key: bytes
    begin: tuple[Canary, ...]
    end: tuple[Canary, ...]

    def to_bytes(self) -> bytes:
        """Return the secret in the runner's format, which is short enough for the buffer of a pipe."""
        parts = {"begin": self.begin, "end": self.end}
        plan = {part: [[each.name, each.kind] for each in canaries] for part, canaries in parts.items()}
        return json.dumps({"key": self.key.hex(), **plan}).encode()


def draw_secret() -> RunSecret:
    """Draw a new secret: every kind of canary once, in random order, and one that fails at either end."""
    kinds = [kind for kind in _EXPECTED if kind != _ALWAYS]
    chance = SystemRandom()
    chance.shuffle(kinds)
    half = len(kinds) // 2
    parts = [[_ALWAYS, *kinds[:half]], [_ALWAYS, *kinds[half:]]]
    for part in parts:
        chance.shuffle(part)
    begin, end = (tuple(Canary(f"test_{secrets.token_hex(4)}", kind) for kind in part) for part in parts)
    return RunSecret(secrets.token_bytes(32), begin, end)


def code_of(key: bytes, previous: bytes, line: bytes) -> bytes:
    """Return the code with which a record must end. `previous` is the code before it, empty for the first."""
    return blake2b(previous + line, key=key, digest_size=CODE_DIGITS // 2).hexdigest().encode()


def wrong_canaries(secret: RunSecret, outcomes: Mapping[str, str]) -> list[str]:
    """Return which canaries had a wrong outcome. Those that did not run are left out.

    A canary on which a hook of the tests failed (`broken`) is no evidence either way.
    """
    return [
        f"a test that must be {_EXPECTED[each.kind]} ({each.kind}) was reported as {outcome}"
        for each in (*secret.begin, *secret.end)
        if (outcome := outcomes.get(each.name)) not in (None, _EXPECTED[each.kind], _BROKEN)
    ]


def all_ran(secret: RunSecret, names: Iterable[str]) -> bool:
    """Return True if every canary was reported."""
    return {each.name for each in (*secret.begin, *secret.end)} <= set(names)


@contextmanager
def handed_over(secret: RunSecret) -> Generator[int]:
    """Yield the descriptor from which the secret can be read once."""
    reading, writing = os.pipe()
    try:
        try:
            os.write(writing, secret.to_bytes())
        finally:
            os.close(writing)
        yield reading
    finally:
        os.close(reading)
