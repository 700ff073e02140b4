"""The profile for macOS's sandbox as text; it cannot be run here, so nothing is said about what it stops."""

import sys
from pathlib import Path

import pytest

from app.schemas.modes import ConfinementKind
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.confine.seatbelt import SeatbeltReport
from app.workspaces.confine.seatbelt_profile import SeatbeltLaunch, profile

WORKSPACE = Path("/Users/me/a work (space)")
TESTS = WORKSPACE / "tests"


def _rules(text: str) -> list[str]:
    """Return the top-level rules, each on one line."""
    assert text.count("(") == text.count(")") + text.count('\\"(')
    return [" ".join(rule.split()) for rule in text.replace("\n(", "\0(").split("\0")]


def test_everything_is_refused_first_and_the_network_altogether() -> None:
    rules = _rules(profile(SeatbeltLaunch(writable=[WORKSPACE], readable=[])))
    assert rules[:2] == ["(version 1)", "(deny default)"]
    assert not [rule for rule in rules if "network" in rule]
    assert not [rule for rule in rules if '/Users/me")' in rule and "metadata" not in rule]


def test_a_readable_place_below_a_writable_one_stays_as_it_is() -> None:
    rules = _rules(profile(SeatbeltLaunch(writable=[WORKSPACE], readable=[TESTS])))
    allowed = rules.index(f'(allow file-write* (subpath "{WORKSPACE}"))')
    denied = rules.index(f'(deny file-write* (subpath "{TESTS}"))')
    assert denied > allowed  # the later rule counts


def test_the_way_to_a_place_is_known_and_nothing_beside_it() -> None:
    rules = _rules(profile(SeatbeltLaunch(writable=[WORKSPACE], readable=[])))
    (above,) = [rule for rule in rules if rule.startswith("(allow file-read-metadata")]
    assert above == '(allow file-read-metadata (literal "/") (literal "/Users") (literal "/Users/me"))'


def test_ways_out_are_single_sockets_and_ports() -> None:
    launch = SeatbeltLaunch(writable=[], readable=[], sockets=[Path("/private/tmp/s")], ports=[8017])
    rules = [rule for rule in _rules(profile(launch)) if "network" in rule]
    assert rules == [
        '(allow network-outbound (literal "/private/tmp/s"))',
        '(allow network-bind network-inbound (local ip "localhost:8017"))',
        '(allow network-outbound (remote ip "localhost:8017"))',
    ]


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        pytest.param('a") (allow default) ("', 'a\\") (allow default) (\\"', id="quotes"),
        pytest.param("a\\", "a\\\\", id="backslash"),
    ],
)
def test_a_name_cannot_add_a_rule(name: str, quoted: str) -> None:
    text = profile(SeatbeltLaunch(writable=[Path("/w") / name], readable=[]))
    assert f'(allow file-write*\n  (subpath "/w/{quoted}"))' in text


def test_a_line_break_in_a_path_is_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        profile(SeatbeltLaunch(writable=[Path("/w/a\n(allow default)")], readable=[]))


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "darwin", reason="tells what other systems say")
async def test_other_systems_say_that_it_is_not_theirs() -> None:
    state = await Sandbox(SandboxSettings(kind=ConfinementKind.SEATBELT)).state()
    assert not state.allowed
    assert "Seatbelt is macOS's sandbox" in state.detail


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "marked", "started"),
    [
        pytest.param(0, False, True, id="a-program-that-ended-well"),
        pytest.param(65, False, False, id="a-bad-profile"),
        pytest.param(65, True, True, id="a-program-with-that-status"),
    ],
)
async def test_a_failed_start_is_told_from_a_failed_program(
    tmp_path: Path, status: int, marked: bool, started: bool
) -> None:
    mark = tmp_path / "started"
    if marked:
        mark.touch()
    report = SeatbeltReport(mark)
    await report.settle(status)
    assert report.started is started
