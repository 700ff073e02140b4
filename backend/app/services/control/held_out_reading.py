"""Reads held-out tests: applies the patch and checks the files. Needs no database, so it starts quickly."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from app.core.errors import InvalidInputError
from app.runners.evaluators.held_out.held_out_files import check_held_out
from app.schemas.held_out import HeldOutInput
from app.schemas.runs import HeldOutFeedback
from app.workspaces.files.removal import remove_tree
from app.workspaces.history.patches import apply_patch
from app.workspaces.history.repository import RunRepository

if TYPE_CHECKING:
    from app.runners.evaluators.held_out.held_out_gate import HeldOutEvaluator

MakeGate = Callable[[Mapping[str, str], HeldOutFeedback], "HeldOutEvaluator"]
"""Makes the gate for held-out files, with the operator's settings."""

JUDGED_PHASES = ("coding", "verification")
"""The phases in which held-out tests run."""


async def read_held_out(
    given: HeldOutInput, repository: RunRepository, base: str, prefix: str = "."
) -> dict[str, str]:
    """Return the files of held-out tests as they will be laid over a run's attempts.

    Args:
        given: the held-out tests of the request.
        repository: a repository that contains the base.
        base: the commit that a patch applies to.
        prefix: the project's directory in the repository; paths in the result are relative to it.

    Raises:
        InvalidInputError: the patch does not apply, or the files cannot be held out;
            the error names the field.
    """
    contents = await _contents(given, repository, base, prefix)
    place = Path(await anyio.mkdtemp(prefix="phaserunner-held-out-"))
    try:
        await repository.checkout_base(base, place / "base")
        checked = await anyio.to_thread.run_sync(
            check_held_out, contents, place / "base" / prefix, repository.limits
        )
    finally:
        with anyio.CancelScope(shield=True):
            await remove_tree(place)
    return dict(checked.files)


async def _contents(
    given: HeldOutInput, repository: RunRepository, base: str, prefix: str
) -> dict[str, bytes]:
    if given.share is not None:
        raise InvalidInputError("only a sprint can hide a part of its base's tests", field="held_out.share")
    if given.files is not None:
        return {path: text.encode("utf-8", "surrogatepass") for path, text in given.files.items()}
    patch = (given.patch or "").encode("utf-8", "surrogatepass")
    try:
        made = await apply_patch(repository.git, repository.path, base, patch)
    except InvalidInputError as error:
        raise InvalidInputError(error.detail, field="held_out.patch") from error
    return {_inside(each.path, prefix): each.content for each in made}


def _inside(path: str, prefix: str) -> str:
    """Turn a path in the repository into one relative to the project's directory."""
    if not PurePosixPath(path).is_relative_to(prefix):
        raise InvalidInputError(f"{path} lies outside {prefix}", field="held_out.patch")
    return PurePosixPath(path).relative_to(prefix).as_posix()
