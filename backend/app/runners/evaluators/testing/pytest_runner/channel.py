"""Writes records that the reader can distinguish from forged ones.

Each record is one line: JSON with a running number `n` and a `kind`, a space, and a code of 32 hexadecimal
digits over the line and the code before it. The code is made with a secret that only this run and its reader
know. Anything that the tests write to the descriptor, leave out or duplicate breaks the chain.

The secret is in this process, like the code under test: code that searches the whole memory for it finds it.
So these records are evidence, not proof.
"""

import fcntl
import os
import random
from collections.abc import Callable
from hashlib import blake2b
from json import JSONEncoder
from typing import Any

_CODE_BYTES = 16
_LOWEST, _HIGHEST = 100, 1000

Send = Callable[..., None]


def open_channel(fd: int, secret: bytes) -> Send:
    """Return the function `send(kind, **fields)` that writes one record to a copy of `fd`, and close `fd`.

    The copy has a number that tests do not guess when they close or write to descriptors. Everything that
    `send` needs is bound here, before any code under test is loaded. In a forked process it does nothing.
    """
    number = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, random.SystemRandom().randrange(_LOWEST, _HIGHEST))
    os.close(fd)
    encode = JSONEncoder(ensure_ascii=True).encode
    state: dict[str, Any] = {"count": 0, "code": b""}
    write, getpid, hasher, owner = os.write, os.getpid, blake2b, os.getpid()

    def send(kind: str, **fields: Any) -> None:
        if getpid() != owner:
            return
        state["count"] += 1
        line = encode({"n": state["count"], "kind": kind, **fields}).encode()
        code = hasher(state["code"] + line, key=secret, digest_size=_CODE_BYTES).hexdigest().encode()
        state["code"] = code
        left = line + b" " + code + b"\n"
        while left:
            left = left[write(number, left) :]

    return send
