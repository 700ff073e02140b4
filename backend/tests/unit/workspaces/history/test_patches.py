"""A patch is applied to a commit without a working tree, and leaves nothing in the repository."""

import pytest

from app.core.errors import InvalidInputError
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.history.patches import apply_patch
from tests.unit.workspaces.conftest import UserRepository

pytestmark = pytest.mark.anyio

ADDS = "--- /dev/null\n+++ b/tests/test_a.py\n@@ -0,0 +1,1 @@\n+A = 'kept nowhere'\n"
CHANGES = "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
DELETES = (
    "diff --git a/app.py b/app.py\ndeleted file mode 100644\n"
    "--- a/app.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
)
LINKS = (
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
    "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
)


async def apply(git: Git, user: UserRepository, patch: str) -> dict[str, bytes]:
    made = await apply_patch(git, user.path / ".git", user.git("rev-parse", "HEAD"), patch.encode())
    return {each.path: each.content for each in made}


async def test_added_and_changed_files_are_given_whole(git: Git, user: UserRepository) -> None:
    objects = user.git("cat-file", "--batch-all-objects", "--batch-check")
    found = await apply(git, user, ADDS + CHANGES)
    assert found == {"tests/test_a.py": b"A = 'kept nowhere'\n", "app.py": b"x = 2\n"}
    assert user.git("cat-file", "--batch-all-objects", "--batch-check") == objects
    assert user.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        pytest.param(CHANGES.replace("x = 1", "x = 7"), r"app\.py, the hunk at line 1", id="another base"),
        pytest.param(CHANGES.replace("app.py", "gone.py"), r"gone\.py", id="no such file"),
        pytest.param(ADDS.replace("tests/", "../../"), r"invalid path", id="out of the tree"),
        pytest.param(ADDS.replace("tests/", ".git/"), r"invalid path", id="into git"),
        pytest.param(DELETES, r"app\.py is deleted", id="deletion"),
        pytest.param(LINKS, r"l is a symbolic link", id="link"),
        pytest.param("Make the tests pass\n", r"does not apply|No valid patches", id="no patch"),
        pytest.param(ADDS.replace("+1,1", "+1,9"), r"corrupt patch", id="cut off"),
    ],
)
async def test_everything_else_is_refused(git: Git, user: UserRepository, patch: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        await apply(git, user, patch)


async def test_a_repository_of_a_run_can_be_read_while_it_is_bare(git: Git, user: UserRepository) -> None:
    bare = user.path.parent / "bare.git"
    await git.run(["init", "-q", "--bare", str(bare)], GitTarget(None))
    user.git("push", "-q", str(bare), "main")
    made = await apply_patch(git, bare, user.git("rev-parse", "HEAD"), ADDS.encode())
    assert [each.path for each in made] == ["tests/test_a.py"]
