"""`hook`: what agents and git get to hear when work is called done."""

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import anyio.to_thread
import jsonschema
import pytest

from app.cli.exits import ExitCode
from app.cli.hooks.clients import HookClient
from app.core.errors import WorkspaceError
from tests.unit.cli.fakes import FakeService, Outcome, invoke
from tests.unit.cli.reports import ASKED, ERRORED, FAILED, PASSED, FakeJudging

ZERO = "0" * 40
# The members that each agent documents for its event.
CLAUDE_STOP = {
    "session_id": "abc123",
    "transcript_path": "/home/me/.claude/projects/p/abc123.jsonl",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "Done.",
}
CODEX_STOP = {
    "session_id": "0199-a",
    "turn_id": "turn-1",
    "transcript_path": None,
    "model": "gpt-5",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": None,
}
STOP_OUTPUT = {
    # What Codex accepts on standard output; it refuses every other member.
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "decision": {"const": "block"},
        "reason": {"type": "string", "pattern": r"\S"},
        "systemMessage": {"type": "string"},
    },
    "dependentRequired": {"decision": ["reason"]},
}


def git(place: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("a = 1\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Start")
    return project


def call(project: Path, judging: FakeJudging, *options: str, event: Any = None, **members: Any) -> Outcome:
    """Call a hook as the agent does: from another directory, with an event on standard input."""
    told = event if isinstance(event, str) else json.dumps({**CLAUDE_STOP, "cwd": str(project), **members})
    given = ("hook", "claude-code", "--run", *options)
    state = project.parent / "state"
    state.mkdir(exist_ok=True)
    return invoke(FakeService(), *given, cwd=state, stdin=told, judging=judging)


def change(project: Path) -> None:
    (project / "src" / "a.py").write_text("a = 2\n")


def test_findings_go_back_at_most_n_times_and_then_the_agent_stops_with_them(project: Path) -> None:
    change(project)
    judging = FakeJudging([FAILED])
    answers = [call(project, judging, "--times", "2", stop_hook_active=active > 0) for active in range(4)]
    assert [each.code for each in answers] == [ExitCode.PASSED] * 4
    assert [each.document.get("decision") for each in answers] == ["block", "block", None, None]
    assert "- src/a b.py:3: `os` imported, not used: 100% [F401] (ruff_lint)" in answers[0].document["reason"]
    assert "(2 of 2)" in answers[1].document["reason"]
    assert "sent back 2 times" in answers[3].document["systemMessage"]
    assert "src/tax.py:12" in answers[3].document["systemMessage"]


@pytest.mark.parametrize(
    ("judging", "told"),
    [
        pytest.param(FakeJudging([ERRORED]), "no verdict, so nothing passed", id="errored"),
        pytest.param(FakeJudging([ASKED]), "a reviewer must decide", id="asks"),
        pytest.param(FakeJudging([WorkspaceError("too many files")]), "too many files", id="error"),
    ],
)
def test_no_verdict_lets_the_agent_stop_with_a_warning(
    project: Path, judging: FakeJudging, told: str
) -> None:
    change(project)
    done = call(project, judging)
    assert done.code == ExitCode.PASSED
    assert list(done.document) == ["systemMessage"]
    assert told in done.document["systemMessage"]


def test_a_crash_of_the_judge_does_not_hold_up_the_agent(project: Path) -> None:
    class Broken(FakeJudging):
        async def judge(self, request: Any) -> Any:
            raise ZeroDivisionError("here")

    change(project)
    assert "ZeroDivisionError: here" in call(project, Broken([])).document["systemMessage"]


def test_a_pass_says_nothing_and_starts_the_count_again(project: Path) -> None:
    change(project)
    judging = FakeJudging([FAILED, PASSED, FAILED])
    answers = [call(project, judging, "--times", "1") for _ in range(3)]
    assert answers[1].out == ""
    assert "(1 of 1)" in answers[2].document["reason"]


def test_a_diff_without_changes_is_not_judged(project: Path) -> None:
    judging = FakeJudging([FAILED])
    assert call(project, judging).out == ""
    assert judging.requests == []


def test_what_a_session_commits_is_compared_with_its_start(project: Path) -> None:
    judging = FakeJudging([FAILED])
    start = git(project, "rev-parse", "HEAD")
    assert call(project, judging, hook_event_name="SessionStart", source="startup").out == ""
    change(project)
    git(project, "commit", "-qam", "Change")
    assert call(project, judging, cwd=str(project / "src")).document["decision"] == "block"
    assert judging.requests[0].base == start
    assert judging.requests[0].path == str(project)


def test_untracked_files_are_changes(project: Path) -> None:
    (project / "new.py").write_text("b = 1\n")
    assert call(project, FakeJudging([FAILED])).document["decision"] == "block"


def test_sessions_are_counted_apart_and_forgotten_at_their_end(project: Path) -> None:
    change(project)
    judging = FakeJudging([FAILED])
    assert "(1 of 1)" in call(project, judging, "--times", "1").document["reason"]
    assert "(1 of 1)" in call(project, judging, "--times", "1", session_id="other").document["reason"]
    states = project.parent / "state" / ".phaserunner" / "hooks"
    assert len(list(states.iterdir())) == 2
    assert call(project, judging, hook_event_name="SessionEnd").out == ""
    assert len(list(states.iterdir())) == 1


def test_two_hooks_at_once_judge_once_and_count_once(project: Path) -> None:
    change(project)
    held, waiting = threading.Event(), threading.Event()

    class Slow(FakeJudging):
        async def judge(self, request: Any) -> Any:
            held.set()
            await anyio.to_thread.run_sync(waiting.wait)
            return await FakeJudging.judge(self, request)

    judging, answers = Slow([FAILED]), []
    threads = [threading.Thread(target=lambda: answers.append(call(project, judging))) for _ in range(2)]
    threads[0].start()
    held.wait()
    threads[1].start()
    while not _waits_for_lock(project.parent):
        threads[1].join(0.01)
    waiting.set()
    for each in threads:
        each.join()
    assert len(judging.requests) == 1
    assert [each.document["reason"][:80] for each in answers] == [answers[0].document["reason"][:80]] * 2


def _waits_for_lock(place: Path) -> bool:
    """Tell whether a hook waits for a session's file; the system lists the locks of all programs."""
    files = {str(each.stat().st_ino) for each in place.rglob("hooks/*.json")}
    waiting = [line for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(word.rpartition(":")[2] in files for line in waiting for word in line.split() if ":" in word)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param("", "Invalid JSON", id="nothing"),
        pytest.param("[]", "standard input", id="no object"),
        pytest.param(
            '{"hook_event_name": "Stop", "cwd": "/"}', "session_id: Field required", id="no session"
        ),
    ],
)
def test_what_is_no_event_is_an_error(project: Path, event: str, told: str) -> None:
    done = call(project, FakeJudging([FAILED]), event=event)
    assert told in done.err


@pytest.mark.parametrize(
    ("members", "told"),
    [
        pytest.param({"cwd": "/nonexistent"}, "is not a directory", id="no directory"),
        pytest.param({"cwd": "/"}, "not in a git repository", id="no repository"),
    ],
)
def test_a_place_without_a_base_gives_a_warning(project: Path, members: dict[str, str], told: str) -> None:
    assert told in call(project, FakeJudging([FAILED]), **members).document["systemMessage"]


def test_a_base_that_does_not_exist_is_named(project: Path) -> None:
    change(project)
    done = call(project, FakeJudging([FAILED]), "--base", "nowhere")
    assert "base: 'nowhere' is not a commit" in done.document["systemMessage"]


def test_a_damaged_state_is_a_new_session(project: Path) -> None:
    change(project)
    judging = FakeJudging([FAILED])
    call(project, judging)
    (state,) = (project.parent / "state" / ".phaserunner" / "hooks").iterdir()
    state.write_text("{")
    assert "(1 of 3)" in call(project, judging).document["reason"]


@pytest.mark.parametrize("given", [FAILED, ERRORED, ASKED], ids=["failed", "errored", "asks"])
def test_codex_accepts_every_answer(project: Path, given: Any) -> None:
    change(project)
    event = json.dumps({**CODEX_STOP, "cwd": str(project)})
    done = invoke(
        FakeService(), "hook", "codex", "--run", cwd=project.parent, stdin=event, judging=FakeJudging([given])
    )
    jsonschema.validate(done.document, STOP_OUTPUT)


def manage(client: HookClient, project: Path, *options: str) -> Outcome:
    return invoke(FakeService(), "hook", client.value, str(project), *options, cwd=project)


AGENTS = {
    HookClient.CLAUDE_CODE: ".claude/settings.json",
    HookClient.CODEX: ".codex/hooks.json",
    HookClient.OPENCODE: ".opencode/plugins/phaserunner.js",
}


@pytest.mark.parametrize("client", AGENTS)
def test_a_hook_is_installed_once_and_removed_without_a_trace(project: Path, client: HookClient) -> None:
    place = project / AGENTS[client]
    assert manage(client, project, "--install").out == f"Installed in {place}\n"
    first = place.read_text()
    assert f'"hook", "{client.value}", "--run"' in first or f"hook {client.value} --run" in first
    assert manage(client, project, "--install").out.startswith("Already installed")
    assert place.read_text() == first
    assert manage(client, project, "--install", "--times", "5").out.startswith("Installed")
    assert manage(client, project, "--uninstall").out.startswith("Removed")
    assert not place.exists()
    assert manage(client, project, "--uninstall").out.startswith("There is no hook")


def test_other_settings_and_hooks_stay(project: Path) -> None:
    other = {"hooks": [{"type": "command", "command": "say done"}]}
    before = {"model": "opus", "hooks": {"Stop": [other], "PreToolUse": []}, "ä": 1}
    place = project / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text(json.dumps(before))
    manage(HookClient.CLAUDE_CODE, project, "--install")
    after = json.loads(place.read_text())
    assert after["model"] == "opus"
    assert after["hooks"]["Stop"][0] == other
    assert after["hooks"]["Stop"][1]["hooks"][0]["timeout"] == 1800
    manage(HookClient.CLAUDE_CODE, project, "--uninstall")
    assert json.loads(place.read_text()) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("{,", "is not JSON", id="no JSON"),
        pytest.param("[]", "the settings must be an object", id="a list"),
        pytest.param('{"hooks": []}', "hooks must be an object", id="hooks"),
        pytest.param('{"hooks": {"Stop": {}}}', "hooks.Stop must be a list", id="event"),
    ],
)
def test_settings_that_cannot_be_read_are_left_alone(project: Path, text: str, told: str) -> None:
    place = project / ".claude" / "settings.json"
    place.parent.mkdir()
    place.write_text(text)
    done = manage(HookClient.CLAUDE_CODE, project, "--install")
    assert (done.code, place.read_text()) == (ExitCode.USAGE, text)
    assert told in done.err


def test_a_hook_for_the_user_lies_in_the_home_directory(project: Path, home: Path) -> None:
    manage(HookClient.CODEX, project, "--install", "--user")
    assert "SessionStart" in json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]


def test_printing_changes_nothing(project: Path) -> None:
    done = manage(HookClient.CLAUDE_CODE, project)
    assert "Stop" in done.document["hooks"]
    assert not (project / ".claude").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--install", "--run"], "give one of"),
        (["--times", "-1"], "--times"),
        (["--install", "--user"], "--user: git has no pre-push hook for a user"),
    ],
)
def test_options_that_do_not_go_together_are_refused(project: Path, options: list[str], told: str) -> None:
    done = manage(HookClient.GIT_PRE_PUSH, project, *options)
    assert (done.code, told in done.err) == (ExitCode.USAGE, True), done.err


def push(project: Path, judging: FakeJudging, text: str, *options: str) -> Outcome:
    given = ("hook", "git-pre-push", str(project), "--run", *options)
    return invoke(FakeService(), *given, cwd=project.parent, stdin=text, judging=judging)


def test_a_push_is_judged_as_it_is_committed(project: Path) -> None:
    start = git(project, "rev-parse", "HEAD")
    change(project)
    git(project, "commit", "-qam", "Change")
    head = git(project, "rev-parse", "HEAD")
    (project / "src" / "a.py").write_text("not committed")
    seen: list[str] = []

    class Reading(FakeJudging):
        async def judge(self, request: Any) -> Any:
            seen.append((Path(request.path) / "src" / "a.py").read_text())
            return await FakeJudging.judge(self, request)

    judging = Reading([FAILED])
    done = push(project, judging, f"refs/heads/main {head} refs/heads/main {start}\n")
    assert done.code == ExitCode.FAILED
    assert seen == ["a = 2\n"]
    assert judging.requests[0].base == start
    assert "refs/heads/main failed: Failed: ruff_lint, pytest\nsrc/a b.py:3" in done.err


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (PASSED, ExitCode.PASSED),
        (ERRORED, ExitCode.PASSED),
        (ASKED, ExitCode.PASSED),
        (FAILED, ExitCode.FAILED),
    ],
    ids=["passed", "errored", "asks", "failed"],
)
def test_only_a_failed_push_is_refused(project: Path, given: Any, code: ExitCode) -> None:
    change(project)
    git(project, "commit", "-qam", "Change")
    head = git(project, "rev-parse", "HEAD")
    done = push(project, FakeJudging([given]), f"main {head} main {ZERO}", "--base", "HEAD~1")
    assert done.code == code
    assert done.err


def test_what_a_push_does_not_change_is_not_judged(project: Path) -> None:
    head = git(project, "rev-parse", "HEAD")
    judging = FakeJudging([FAILED])
    text = f"(delete) {ZERO} refs/heads/old {head}\nrefs/heads/main {head} refs/heads/main {head}\n"
    assert push(project, judging, text).code == ExitCode.PASSED
    assert judging.requests == []


@pytest.mark.parametrize(
    "ref",
    ["refs/heads/a\u3000b", "refs/heads/a\x85b\u2028c", "main@{2 days ago}"],
    ids=["wide space", "line separators", "expression"],
)
def test_white_space_in_a_pushed_name_is_part_of_it(project: Path, ref: str) -> None:
    change(project)
    git(project, "commit", "-qam", "Change")
    head = git(project, "rev-parse", "HEAD")
    text = f"{ref} {head} refs/heads/a\u3000b {ZERO}\n"
    done = push(project, FakeJudging([FAILED]), text, "--base", "HEAD~1")
    assert done.code == ExitCode.FAILED
    assert f"{ref} failed: " in done.err


def test_what_git_does_not_write_is_named_and_lets_the_push_through(project: Path) -> None:
    done = push(project, FakeJudging([FAILED]), "rm -rf\n")
    assert done.code == ExitCode.PASSED
    assert "lets the push through: standard input:1" in done.err


def test_a_fault_of_the_judge_lets_the_push_through(project: Path) -> None:
    class Full(FakeJudging):
        async def judge(self, request: Any) -> Any:
            raise OSError(28, "No space left on device")

    change(project)
    git(project, "commit", "-qam", "Change")
    head = git(project, "rev-parse", "HEAD")
    done = push(project, Full([]), f"main {head} main {ZERO}\n", "--base", "HEAD~1")
    assert done.code == ExitCode.PASSED
    assert "lets the push through: OSError: [Errno 28] No space left on device" in done.err


def test_the_pre_push_hook_keeps_the_one_before_it(project: Path) -> None:
    place = project / ".git" / "hooks" / "pre-push"
    place.parent.mkdir(exist_ok=True)
    place.write_text("#!/bin/sh\ncat > earlier.txt\n")
    place.chmod(0o755)
    assert manage(HookClient.GIT_PRE_PUSH, project, "--install").code == ExitCode.PASSED
    assert manage(HookClient.GIT_PRE_PUSH, project, "--install").out.startswith("Already")
    # The program itself is replaced: this is about the script.
    script = place.read_text()
    line = next(each for each in script.splitlines() if "--remote" in each and "printf" in each)
    place.write_text(script.replace(line, 'printf \'%s\\n\' "$refs" > "$project/later.txt"; exit 1'))
    head = git(project, "rev-parse", "HEAD")
    git(project, "init", "-q", "--bare", "../remote.git")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "push", "../remote.git", "main")
    assert (project / "earlier.txt").read_text() == f"refs/heads/main {head} refs/heads/main {ZERO}\n"
    assert (project / "later.txt").read_text() == (project / "earlier.txt").read_text()
    place.write_text(script)
    manage(HookClient.GIT_PRE_PUSH, project, "--uninstall")
    assert place.read_text() == "#!/bin/sh\ncat > earlier.txt\n"


def test_hooks_that_other_repositories_share_are_not_touched(project: Path, home: Path) -> None:
    (home / ".gitconfig").write_text(f"[core]\n\thooksPath = {home}/hooks\n")
    done = manage(HookClient.GIT_PRE_PUSH, project, "--install")
    assert done.code == ExitCode.USAGE
    assert "core.hooksPath" in done.err
