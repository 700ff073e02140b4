"""What an installation does without, and what it never does without."""

from pathlib import Path

import pytest

from app.workspaces.environments.outcome import Concessions, Reason
from app.workspaces.environments.plan import CONSTRAINTS, ROOTS, EnvironmentPlan
from app.workspaces.environments.relaxing import (
    MOST_CONCESSIONS,
    InstallerInput,
    too_new,
    without_names,
    without_wheel,
)
from app.workspaces.environments.uv_words import reason_of

DIRECT = "Because beta==1.0 has no usable wheels and you require beta==1.0, we can conclude"
CHAIN = (
    "Because only pyjs>=2.5 is available, all versions of pyjs have no usable wheels and js==0.68\n"
    "depends on pyjs>=2.5, js==0.68 cannot be used.\n  And because you\n"
    "  require Js_Two==0.68, we can conclude"
)
CONFLICT = (
    "Because you require pytest==7.2.0 and you require pytest>=7.4, your requirements are unsatisfiable."
)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (DIRECT, {"beta"}),
        (CHAIN, {"js-two"}),
        ("delta<1 have no usable wheels and you require one of:\n  delta<2\n  delta>3\n", {"delta"}),
        ("Distribution `gamma==2 @ registry+x` has no binary distribution", {"gamma"}),
        ("Because alpha was not found and you require alpha", set()),
        ("", set()),
    ],
    ids=["direct", "a chain", "two ranges", "locked", "another trouble", "nothing"],
)
def test_what_has_no_wheel(said: str, names: set[str]) -> None:
    assert without_wheel(said) == names


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (
            "hint: `Old_One` was filtered by `exclude-newer` to only include packages uploaded before",
            {"old-one"},
        ),
        ("hint: Wheels are required for `beta` because building from source is disabled", {"beta"}),
        (DIRECT, {"beta"}),
        (CONFLICT, set()),
    ],
    ids=["no release then", "no wheel then", "required without a wheel", "a conflict"],
)
def test_what_a_limit_on_the_day_leaves_without_a_release(said: str, names: set[str]) -> None:
    assert too_new(said) == names


def test_lines_go_with_their_hashes() -> None:
    text = "alpha==1 \\\n    --hash=sha256:aa\nBeta==1 \\\n    --hash=sha256:bb\n-r other.txt\n"
    assert without_names(text, {"beta"}) == "alpha==1 \\\n    --hash=sha256:aa\n-r other.txt\n"


def asked(place: Path, text: str, **options: bool) -> InstallerInput:
    plan = EnvironmentPlan(files={ROOTS: text}, install=(ROOTS,), required=frozenset({"pytest", "alpha"}))
    made = InstallerInput(plan, place, building=options.get("building", False))
    made.write()
    return made


def test_one_thing_after_the_other_is_given_up(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha\nbeta==1.0\njs_two\npytest==7.2.0\n")
    assert made.concede(Reason.BUILD, DIRECT)
    assert made.concede(Reason.BUILD, CHAIN)
    assert made.concede(Reason.UNRESOLVABLE, CONFLICT)
    assert made.conceded == Concessions(("beta", "js-two"), newer_pytest=True)
    assert (tmp_path / ROOTS).read_text() == "alpha\npytest\n"
    assert "--overrides=phaserunner-overrides.txt" in made.arguments()
    # The same complaint again: nothing more is to be had.
    assert not made.concede(Reason.BUILD, DIRECT)
    assert not made.concede(Reason.UNRESOLVABLE, CONFLICT)
    made.write()
    assert made.conceded == Concessions()
    assert "beta==1.0" in (tmp_path / ROOTS).read_text()


def test_a_lock_that_names_an_older_pytest_keeps_its_other_versions(tmp_path: Path) -> None:
    files = {ROOTS: "alpha\npytest>=7.4\n", CONSTRAINTS: "alpha==2\npytest==7.2.2\npytest-mock==3\n"}
    made = InstallerInput(EnvironmentPlan(files=files, install=(ROOTS,)), tmp_path, building=False)
    made.write()
    assert made.concede(Reason.UNRESOLVABLE, CONFLICT)
    assert (tmp_path / CONSTRAINTS).read_text() == "alpha==2\npytest\npytest-mock==3\n"


def test_an_address_of_an_unknown_kind_is_left_out(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha\ngit+git://example.org/beta\nnot a requirement\n")
    said = f"error: Couldn't parse requirement in `{ROOTS}` at position "
    assert reason_of(said) is Reason.UNRESOLVABLE
    assert made.concede(Reason.UNRESOLVABLE, f"{said}6\n  cause: Unsupported Git URL scheme `git:`")
    assert (tmp_path / ROOTS).read_text() == "alpha\n\nnot a requirement\n"
    assert made.conceded.left_out == ("git+git://example.org/beta",)
    assert not made.concede(Reason.UNRESOLVABLE, f"{said}7")
    assert not made.concede(Reason.UNRESOLVABLE, said.replace(ROOTS, "../elsewhere.txt") + "0")


def test_what_only_commands_ask_for_goes_first(tmp_path: Path) -> None:
    plan = EnvironmentPlan(
        files={ROOTS: "alpha\nbeta<2\nPyYAML\n"},
        install=(ROOTS,),
        optional=frozenset({"beta", "pyyaml", "absent"}),
    )
    made = InstallerInput(plan, tmp_path, building=False)
    made.write()
    conflict = "alpha depends on beta>=2 and you require beta<2, so your requirements are unsatisfiable"
    assert made.concede(Reason.UNRESOLVABLE, conflict)
    assert (tmp_path / ROOTS).read_text() == "alpha\n"
    assert made.conceded.left_out == ("beta", "pyyaml")
    assert not made.concede(Reason.UNRESOLVABLE, conflict)


@pytest.mark.parametrize("name", ["requirements/tests.in", "requirements/tests"])
def test_requirement_files_of_any_name_give_up_what_cannot_be_installed(tmp_path: Path, name: str) -> None:
    plan = EnvironmentPlan(files={name: "alpha\nbeta==1.0\n", "pyproject.toml": "beta\n"}, install=(name,))
    made = InstallerInput(plan, tmp_path, building=False)
    made.write()
    assert made.concede(Reason.BUILD, DIRECT)
    assert ((tmp_path / name).read_text(), (tmp_path / "pyproject.toml").read_text()) == ("alpha\n", "beta\n")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.BUILD, DIRECT.replace("beta", "pytest")),
        (Reason.UNRESOLVABLE, "Because you require beta==9 and pytest-cov>=7, your requirements are"),
        (Reason.OFFLINE, "error sending request for url (https://index.example/simple/beta/)"),
        (Reason.OFFLINE, "Failed to fetch: https://example.org/alpha.zip"),
        (Reason.FAILED, "killed"),
    ],
    ids=["what runs the tests", "a conflict", "no network", "the project needs the address", "another"],
)
def test_what_is_never_given_up(tmp_path: Path, reason: Reason, said: str) -> None:
    made = asked(tmp_path, "alpha @ https://example.org/alpha.zip\nbeta\n")
    assert not made.concede(reason, said)
    assert made.conceded == Concessions()


def test_what_the_project_itself_needs_is_given_up_last(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha\nbeta==1.0\n")
    both = f"{DIRECT}\n  And because alpha has no usable wheels and you require alpha, we can conclude"
    assert made.concede(Reason.BUILD, both)
    assert made.conceded.left_out == ("beta",)
    assert made.concede(Reason.BUILD, both)
    assert made.conceded.left_out == ("alpha", "beta")
    assert "alpha, beta. Tests that miss it" in made.conceded.sentences()[0]
    assert not made.concede(Reason.BUILD, both)


def test_an_address_that_cannot_be_reached_is_left_out(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha\nhttps://example.org/main.tar.gz\ngamma @ https://other.example/g.zip\n")
    assert made.concede(Reason.OFFLINE, "dns error: https://example.org/main.tar.gz")
    assert made.conceded.left_out == ("https://example.org/main.tar.gz",)
    assert (tmp_path / ROOTS).read_text() == "alpha\ngamma @ https://other.example/g.zip\n"


def test_an_address_of_what_the_index_has_is_left_out_even_if_the_project_needs_it(tmp_path: Path) -> None:
    files = {ROOTS: "alpha>=1\n", "requirements.txt": "alpha @ git+https://example.org/a.git@main\nbeta\n"}
    plan = EnvironmentPlan(files=files, install=tuple(files), required=frozenset({"pytest", "alpha"}))
    made = InstallerInput(plan, tmp_path, building=False)
    made.write()
    assert made.concede(Reason.OFFLINE, "Failed to fetch: https://example.org/a.git@main: dns error")
    assert (tmp_path / "requirements.txt").read_text() == "beta\n"
    assert (tmp_path / ROOTS).read_text() == "alpha>=1\n"


UNPUBLISHED = (
    "Because there is no version of types-setuptools==75.8.0 and you require types-setuptools==75.8.0,\n"
    "we can conclude that your requirements are unsatisfiable."
)


def test_a_version_that_the_index_lacks_becomes_another_one(tmp_path: Path) -> None:
    text = (
        "alpha==1\ntypes-setuptools==75.8.0 ; python_version > '3.8'  # stubs\nTypes_Setuptools[x]==75.8.0\n"
    )
    made = asked(tmp_path, text)
    assert made.concede(Reason.UNRESOLVABLE, UNPUBLISHED)
    assert made.conceded == Concessions(unpinned=("types-setuptools",))
    assert (tmp_path / ROOTS).read_text() == (
        "alpha==1\ntypes-setuptools ; python_version > '3.8'  # stubs\nTypes_Setuptools[x]\n"
    )
    assert "types-setuptools" in made.conceded.sentences()[0]
    assert not made.concede(Reason.UNRESOLVABLE, UNPUBLISHED)


def test_a_version_for_another_python_becomes_another_one(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha==1\nsphinx==9.1.0\n")
    said = (
        "Because the current Python version (3.11.7) does not satisfy Python>=3.12 and sphinx==9.1.0\n"
        "depends on Python>=3.12, we can conclude that sphinx==9.1.0 cannot be used."
    )
    assert made.concede(Reason.UNRESOLVABLE, said)
    assert made.conceded == Concessions(unpinned=("sphinx",))
    assert (tmp_path / ROOTS).read_text() == "alpha==1\nsphinx\n"


def test_a_range_without_a_release_is_tried_without_the_limit_and_then_left_out(tmp_path: Path) -> None:
    said = "Because only rut<=0.4.0 is available and you require rut>=3.0, we can conclude that your"
    assert too_new(said) == {"rut"}
    made = asked(tmp_path, "alpha==1\nrut>=3.0\n")
    assert made.concede(Reason.UNRESOLVABLE, said)
    assert made.conceded.left_out == ("rut",)
    assert (tmp_path / ROOTS).read_text() == "alpha==1\n"
    assert not made.concede(Reason.UNRESOLVABLE, said.replace("rut", "alpha"))


@pytest.mark.parametrize(
    "said",
    [
        "Because you require alpha==1 and alpha==2, we can conclude that your requirements are",
        "Because you require alpha{os_name != 'nt'}>=1 and alpha==2, we can conclude that your requirements",
    ],
)
def test_of_two_versions_the_projects_own_counts(tmp_path: Path, said: str) -> None:
    files = {ROOTS: "alpha==1\n", "requirements.txt": "Alpha==2  # via -r requirements.in\nbeta==3\n"}
    plan = EnvironmentPlan(files=files, install=tuple(files), required=frozenset({"pytest", "alpha"}))
    made = InstallerInput(plan, tmp_path, building=False)
    made.write()
    assert made.concede(Reason.UNRESOLVABLE, said)
    assert (tmp_path / ROOTS).read_text() == "alpha==1\n"
    assert (tmp_path / "requirements.txt").read_text() == "Alpha  # via -r requirements.in\nbeta==3\n"
    assert not made.concede(Reason.UNRESOLVABLE, said)
    assert not made.concede(Reason.UNRESOLVABLE, said.replace("alpha==2", "beta==2"))


def test_of_two_versions_in_the_projects_extras_the_range_counts(tmp_path: Path) -> None:
    """An extra for tests with the oldest versions cannot be had together with the others."""
    made = asked(tmp_path, "gamma==1\ngamma>=2\nbeta==3\n")
    said = "Because you require gamma==1 and gamma>=2, we can conclude that your requirements are"
    assert made.concede(Reason.UNRESOLVABLE, said)
    assert (tmp_path / ROOTS).read_text() == "gamma\ngamma>=2\nbeta==3\n"
    assert made.conceded == Concessions(unpinned=("gamma",))
    assert not made.concede(Reason.UNRESOLVABLE, said)


def test_a_version_that_the_project_itself_needs_stays(tmp_path: Path) -> None:
    made = asked(tmp_path, "alpha==1\n")
    assert not made.concede(Reason.UNRESOLVABLE, UNPUBLISHED.replace("types-setuptools", "alpha"))


def test_what_may_be_built_is_not_left_out(tmp_path: Path) -> None:
    made = asked(tmp_path, "beta==1.0\n", building=True)
    assert not made.concede(Reason.BUILD, DIRECT)
    assert "--no-build" not in made.arguments()


def test_there_is_an_end_to_it(tmp_path: Path) -> None:
    names = [f"b{number}" for number in range(MOST_CONCESSIONS + 1)]
    made = asked(tmp_path, "".join(f"{name}\n" for name in names))
    done = [made.concede(Reason.BUILD, DIRECT.replace("beta", name)) for name in names]
    assert done == [True] * MOST_CONCESSIONS + [False]


def test_what_no_index_has_is_left_out_unless_the_project_itself_needs_it(tmp_path: Path) -> None:
    said = "Because {} was not found in the package registry and you require {}, we can conclude"
    made = asked(tmp_path, "alpha\ndemo-release-tools\n")
    assert made.concede(Reason.UNRESOLVABLE, said.format("demo-release-tools", "demo-release-tools"))
    assert made.conceded.left_out == ("demo-release-tools",)
    assert (tmp_path / ROOTS).read_text() == "alpha\n"
    assert not made.concede(Reason.UNRESOLVABLE, said.format("alpha", "alpha"))
