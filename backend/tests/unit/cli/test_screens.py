"""What a terminal and a pipe show of a sprint."""

import io
from datetime import timedelta

from rich.console import Console

from app.cli.view.notices import notices
from app.cli.view.reducer import reduce
from app.cli.view.screens import LiveScreen, PlainScreen, bottom, open_screen
from app.cli.view.state import WatchedRun
from tests.unit.cli.fakes import NOW, Story, verdict_data


def console(*, terminal: bool, width: int = 80) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    made = Console(
        file=file,
        force_terminal=terminal,
        color_system="truecolor" if terminal else None,
        width=width,
        height=24,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={"TERM": "xterm-256color"},
    )
    return made, file


def eventful() -> Story:
    story = Story()
    story.begin(scripted=True, agent="script \x1b]0;owned\x07[bold]x[/bold]")
    here = ("coding", 1)
    story.tell("attempt.started", {"prompt_chars": 1, "base_commit": "b"}, *here)
    story.tell("tool.called", {"tool": "shell", "text": "rm \x1b[2J\u202e"}, *here)
    line = {"text": "thinking [red]aloud[/red]", "at": NOW}
    story.tell("agent.progress", {"lines": [line]}, *here)
    story.tell("evaluation.started", {"evaluators": ["pytest"]}, *here)
    failed = verdict_data("pytest", passed=False, feedback="\n".join(f"\x1b[31mline {n}" for n in range(50)))
    story.tell("evaluator.completed", failed, *here)
    return story


def play(story: Story, screen: PlainScreen | LiveScreen) -> WatchedRun:
    state = WatchedRun()
    with screen:
        for event in story.events:
            state = reduce(state, event)
            screen.show(notices(event, state), event.timestamp, state)
    return state


def test_a_pipe_gets_plain_lines_with_a_time() -> None:
    target, file = console(terminal=False)
    screen = open_screen(target)
    assert isinstance(screen, PlainScreen)
    play(eventful(), screen)
    lines = file.getvalue().splitlines()
    assert "\x1b" not in file.getvalue()
    assert all(len(line) > 9 and line[2] == line[5] == ":" for line in lines)
    assert any("A script, not a model, does the edits" in line for line in lines)
    assert any("shell rm <U+202E>" in line for line in lines)
    assert any(line.endswith("line 5") for line in lines)
    assert any("44 more lines" in line for line in lines)
    assert not any("line 6" in line for line in lines)
    assert not any("thinking" in line for line in lines)


def test_a_terminal_gets_colours_but_none_of_the_agents() -> None:
    target, file = console(terminal=True)
    screen = open_screen(target)
    assert isinstance(screen, LiveScreen)
    play(eventful(), screen)
    written = file.getvalue()
    assert "\x1b[2J" not in written
    assert "\x1b]0;" not in written
    assert "[bold]x[/bold]" in written
    assert "line 5" in written


def test_a_dumb_terminal_gets_plain_lines() -> None:
    dumb = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    assert isinstance(open_screen(dumb), PlainScreen)


def bottom_of(story: Story, width: int = 100) -> list[str]:
    state = WatchedRun()
    for event in story.events:
        state = reduce(state, event)
    target, file = console(terminal=False, width=width)
    target.print(bottom(state, NOW + timedelta(seconds=42)))
    return file.getvalue().splitlines()


def test_the_bottom_says_who_has_not_judged_yet() -> None:
    story = Story()
    story.begin()
    story.tell("evaluation.started", {"evaluators": ["ruff_lint", "pytest"]}, "coding", 1)
    story.tell("evaluator.completed", verdict_data("ruff_lint", passed=True), "coding", 1)
    text = "\n".join(bottom_of(story))
    assert "coding · attempt 1 of 3 · evaluating · 42 s" in text
    assert "waiting for pytest" in text


def test_the_bottom_is_small_at_any_width() -> None:
    story = Story()
    story.begin(scripted=True)
    story.tell("attempt.started", {"prompt_chars": 1, "base_commit": "b"}, "coding", 1)
    for number in range(9):
        story.tell("tool.called", {"tool": "shell", "text": f"{number} " + "long " * 100}, "coding", 1)
    for width in (10, 40, 200):
        lines = bottom_of(story, width)
        assert len(lines) <= 6
        assert all(len(line) <= width for line in lines)


def test_nothing_is_redrawn_while_a_human_is_asked() -> None:
    story = Story()
    story.begin()
    story.escalate()
    assert "".join(bottom_of(story)).strip() == ""


def test_a_run_says_which_tests_failed_before_it_began() -> None:
    target, file = console(terminal=False)
    story = Story()
    story.begin()
    message = "9 tests are red at the base; 3 of 12 pass at the base."
    data = {"total": 12, "passing": 3, "red": 9, "flaky": 0, "message": message}
    story.tell("baseline.completed", data, "coding")
    play(story, open_screen(target))
    assert message in file.getvalue()


def test_a_start_is_taken_over_only_if_a_worker_was_lost() -> None:
    target, file = console(terminal=False)
    story = Story()
    story.begin()
    for flags in ({}, {"resumed": True}, {"resumed": True, "taken_over": True}):
        story.tell("attempt.started", {"prompt_chars": 1, "base_commit": "b", **flags}, "coding", 1)
    play(story, open_screen(target))
    shown = [line for line in file.getvalue().splitlines() if ": the agent works" in line]
    assert [line.partition(" of 3")[2] for line in shown] == [
        ": the agent works",
        ", again: the agent works",
        ", taken over: the agent works",
    ]
