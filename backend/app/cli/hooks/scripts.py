"""The source of hooks that are programs: git's pre-push hook and OpenCode's plugin."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

_PRE_PUSH = """\
#!/bin/sh
# PhaseRunner evaluates each pushed commit. Installed by: phaserunner {mark}
# `phaserunner hook git-pre-push --uninstall` removes it. `git push --no-verify` pushes without it.
project=$(git rev-parse --show-toplevel) || exit 1
refs=$(cat)
earlier="$0{saved}"
if [ -x "$earlier" ]; then
    printf '%s\\n' "$refs" | "$earlier" "$@" || exit $?
fi
unset $(git rev-parse --local-env-vars)
cd {place} || exit 1
printf '%s\\n' "$refs" | {command} --remote "$1" "$project"
"""


def pre_push_script(command: Sequence[str], place: Path, mark: str, saved: str) -> str:
    """Return git's hook. It first runs the hook that was there before."""
    return _PRE_PUSH.format(
        mark=mark, saved=saved, place=shlex.quote(str(place)), command=shlex.join(command)
    )


def opencode_plugin(command: Sequence[str], place: Path) -> str:
    """Return OpenCode's plugin."""
    text = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
    return text.replace("@COMMAND@", json.dumps(list(command))).replace("@PLACE@", json.dumps(str(place)))
