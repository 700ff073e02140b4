"""A type checker's cache of libraries before a run's first check, built once from a file of our own.

Most of the time of a first check goes into libraries that every project imports, above all the types of
pytest. The cache comes only from the interpreter's packages and from that file, never from a workspace. The
checker reads again by itself whatever has changed since.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path

from app.runners.evaluators.static.checker_memory import CheckerMemory, pack
from app.runners.evaluators.tooling import Scratch, ToolTroubleError, scratch

logger = logging.getLogger(__name__)

SEED = (
    "import abc, argparse, asyncio, collections, contextlib, copy, csv, dataclasses, datetime, decimal\n"
    "import enum, functools, hashlib, io, itertools, json, logging, math, operator, os, pathlib, random\n"
    "import re, shutil, statistics, string, subprocess, sys, tempfile, textwrap, threading, time, tomllib\n"
    "import types, typing, unittest, unittest.mock, urllib.parse, urllib.request, uuid\n"
    "import pytest\n"
)

Learn = Callable[[Scratch, Path], Awaitable[None]]
"""Makes the checker read `seed.py` in the scratch directory and write its cache to the other directory."""


class LibraryMemory:
    """Builds caches in the background, once for each interpreter and settings that were used twice.

    Building a cache takes longer than a check without one. A process that judges a single run would never get
    that time back.

    Args:
        memory: where they are kept.
        seed: a module that imports the libraries.
    """

    def __init__(self, memory: CheckerMemory, seed: str = SEED) -> None:
        self._memory = memory
        self._seed = seed
        self._missed: set[int] = set()
        self._learning: dict[Hashable, asyncio.Task[None]] = {}

    def recall(self, key: Hashable) -> bytes | None:
        """Return the packed cache for these settings, or None."""
        return self._memory.recall(("libraries", key))

    def missed(self, key: Hashable, learn: Learn) -> None:
        """Record a check without a cache. The second one starts building it. No caller waits for it."""
        if hash(key) not in self._missed:
            self._missed.add(hash(key))
            return
        if key in self._learning or self.recall(key) is not None:
            return
        task = asyncio.create_task(self._learn(key, learn))
        self._learning[key] = task
        task.add_done_callback(lambda _: self._learning.pop(key, None))

    async def learnt(self) -> None:
        """Wait until all builds that were started have ended."""
        if self._learning:
            await asyncio.wait(list(self._learning.values()))

    async def _learn(self, key: Hashable, learn: Learn) -> None:
        with scratch(Path(sys.executable)) as place:
            cache = place.path / "cache"
            (place.path / "seed.py").write_text(self._seed)
            try:
                await learn(place, cache)
                packed = await asyncio.to_thread(pack, cache)
            except (ToolTroubleError, OSError) as trouble:
                # Without it, first checks only take longer. Another try waits for a while.
                logger.warning("cannot reuse the type checker's work on libraries: %s", trouble)
                packed = b""
        self._memory.keep(("libraries", key), packed)
