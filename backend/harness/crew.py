"""Starts worker processes and ends them by their process ids."""

import multiprocessing
import os
import signal
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from typing import Any

from harness.program import WorkerSpec, main

_STOP_SECONDS = 20
_PROCESSES = multiprocessing.get_context("forkserver")
# Imported once in the fork server, so that each worker is a fork that starts in milliseconds.
_PROCESSES.set_forkserver_preload(["harness.program", "pytest"])


@dataclass
class Crew:
    """Worker processes, which are ended by their process ids."""

    spec: WorkerSpec
    members: list[BaseProcess] = field(default_factory=list[BaseProcess])

    def start(self, **changes: Any) -> BaseProcess:
        """Start another worker with a data directory for it alone."""
        data_dir = self.spec.data_dir / f"worker-{len(self.members)}"
        data_dir.mkdir()
        member = _PROCESSES.Process(target=main, args=(replace(self.spec, data_dir=data_dir, **changes),))
        member.start()
        self.members.append(member)
        return member

    def keep(self, count: int) -> None:
        """Start workers until `count` are alive, in place of those that died."""
        for _ in range(count - sum(each.is_alive() for each in self.members)):
            self.start()

    def stop(self) -> None:
        """End all workers, including those that hang."""
        for each in self.members:
            if each.is_alive() and each.pid is not None:
                os.kill(each.pid, signal.SIGCONT)
                each.terminate()
        for each in self.members:
            each.join(_STOP_SECONDS)
            if each.is_alive():
                each.kill()
                each.join()
            each.close()
