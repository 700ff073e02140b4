"""The system call filter in the format of container engines. It blocks the same calls as bubblewrap's."""

import errno
import json
from typing import Any

from app.workspaces.confine.seccomp import FAMILIES, FORBIDDEN, LARGEST_SEGMENT, NEW_USER_NAMESPACE

_MACHINES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}


def seccomp_profile(machine: str) -> bytes | None:
    """Return the profile for a machine, named as by `platform.machine()`, or None if it is unknown.

    Without a profile from here, the engine's own one applies.
    """
    architecture = _MACHINES.get(machine)
    if architecture is None:
        return None
    user_namespace = [_test(0, "SCMP_CMP_MASKED_EQ", NEW_USER_NAMESPACE, NEW_USER_NAMESPACE)]
    document = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [architecture],
        "syscalls": [
            _refused(list(FORBIDDEN), errno.EPERM),
            _refused(["clone3"], errno.ENOSYS),
            _refused(["clone", "unshare"], errno.EPERM, user_namespace),
            *(
                _refused(["socket", "socketpair"], errno.EAFNOSUPPORT, [_test(0, "SCMP_CMP_EQ", family)])
                for family in FAMILIES
            ),
            _refused(["shmget"], errno.EINVAL, [_test(1, "SCMP_CMP_GT", LARGEST_SEGMENT)]),
        ],
    }
    return json.dumps(document).encode()


def _refused(names: list[str], code: int, tests: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": code, "args": tests or []}


def _test(index: int, operator: str, value: int, second: int = 0) -> dict[str, Any]:
    """Describe a comparison of one argument. For a masked comparison, the mask is the first value."""
    return {"index": index, "op": operator, "value": value, "valueTwo": second}
