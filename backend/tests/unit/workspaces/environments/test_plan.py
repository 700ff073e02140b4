"""What is to be installed for a tree, read from each of the forms in which projects state it."""

from pathlib import Path

import pytest

from app.workspaces.environments.added import added_requirements
from app.workspaces.environments.groups import wanted
from app.workspaces.environments.plan import (
    CONSTRAINTS,
    LOCKED,
    ROOTS,
    TEST_RUNNER,
    plan_for,
)
from app.workspaces.environments.reading import DeclarationError

GROUPS = """
[project]
name = "demo"
dependencies = ["alpha>=1"]
[project.optional-dependencies]
docs = ["sphinx"]
test = ["demo[cov]", "beta"]
cov = ["coverage"]
[dependency-groups]
typing = ["mypy"]
tests = ["pytest", {include-group = "typing"}]
dev = ["ruff"]
"""
SETUP_CFG = """
[options]
install_requires =
  alpha
  beta>=2
[options.extras_require]
tests =
  gamma
"""
SETUP_PY = """
import setuptools
NEEDS = ['alpha']
setuptools.setup(name='demo', install_requires=NEEDS, extras_require={'test': ['beta']})
"""
COMPUTED = """
from setuptools import setup
raise SystemExit
setup(install_requires=open('requirements.in').read())
"""
POETRY = """
[tool.poetry]
name = "demo"
version = "1.0"
[tool.poetry.dependencies]
python = "^3.9"
alpha = "^1.2"
beta = {version = "~0.4", extras = ["fast"]}
gamma = {version = "*", optional = true}
delta = {path = "../delta"}
[tool.poetry.group.test.dependencies]
pytest = "^8.0"
"""
POETRY_LOCK = """
[[package]]
name = "alpha"
version = "1.4.1"
[[package]]
name = "both"
version = "1"
[[package]]
name = "both"
version = "2"
"""


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def roots(tree: Path) -> list[str]:
    return [each for each in plan_for(tree).files[ROOTS].splitlines() if each != TEST_RUNNER]


NOX = "@nox.session\ndef t(session):\n    session.install('alpha')\n    session.run('pytest')\n"
CASES = {
    "standard groups and extras, with what they include": (
        {"pyproject.toml": GROUPS},
        ["alpha>=1", "pytest", "mypy", "coverage", "beta"],
    ),
    "development where nothing is for tests": (
        {"pyproject.toml": '[dependency-groups]\ndev = ["pytest", "alpha"]\nlint = ["ruff"]\n'},
        ["pytest", "alpha"],
    ),
    "development too where the tests' group has no pytest": (
        {"pyproject.toml": '[dependency-groups]\ntest = ["alpha"]\ndev = ["pytest"]\n'},
        ["alpha", "pytest"],
    ),
    "setup.cfg": (
        {"setup.cfg": SETUP_CFG},
        ["alpha", "beta>=2", "gamma"],
    ),
    "setup.cfg in the words of pbr": (
        {"setup.cfg": "[extras]\ntests =\n  gamma\n  delta>=1; python_version < '3'\n"},
        ["gamma", "delta>=1; python_version < '3'"],
    ),
    "setup.py with plain values, some of them named": (
        {"setup.py": SETUP_PY},
        ["alpha", "beta"],
    ),
    "setup.py that computes them says nothing": (
        {"setup.py": COMPUTED},
        [],
    ),
    "poetry": ({"pyproject.toml": POETRY}, ["alpha>=1.2,<2", "beta[fast]>=0.4,<0.5", "pytest>=8.0,<9"]),
    "hatch environments": (
        {"pyproject.toml": '[tool.hatch.envs.hatch-test]\nextra-dependencies = ["alpha", "{root:uri}"]\n'},
        ["alpha"],
    ),
    "pdm": ({"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["alpha"]\n'}, ["alpha"]),
    "plug-ins of pytest that only tox names": (
        {
            "pyproject.toml": '[dependency-groups]\ntest = ["alpha", "pytest", "pytest-cov"]\n',
            "tox.ini": "[testenv]\ndeps =\n  pytest-benchmark\n  pytest-cov<5\n  setuptools>=80\n",
        },
        ["alpha", "pytest", "pytest-cov", "pytest-benchmark"],
    ),
    "tox where nothing else names any": (
        {"tox.ini": "[testenv]\ndeps =\n  alpha\n  py311: beta\n  -r more.txt\n"},
        ["alpha"],
    ),
    "nox where nothing else names any": ({"noxfile.py": NOX}, ["alpha"]),
    "tox where a group only names pytest": (
        {
            "pyproject.toml": '[dependency-groups]\ntest = ["pytest", "coverage"]\n',
            "tox.ini": "[testenv]\ndeps =\n  alpha\n",
        },
        ["pytest", "coverage", "alpha"],
    ),
    "tox before nox": ({"noxfile.py": NOX, "tox.ini": "[testenv]\ndeps =\n  beta\n"}, ["beta"]),
    "nothing": ({"main.py": "import os\n"}, []),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_roots(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert roots(write(tmp_path, files)) == expected


def test_sources_of_compiled_requirement_files_count_without_these(tmp_path: Path) -> None:
    files = {"requirements/tests.in": "alpha\n", "requirements/docs.in": "sphinx\n"}
    assert "alpha" in plan_for(write(tmp_path, files)).files["requirements/tests.in"]
    write(tmp_path, {"requirements/tests.txt": "alpha==1.5\n"})
    assert [name for name in plan_for(tmp_path).files if "tests" in name] == ["requirements/tests.txt"]


@pytest.mark.parametrize(
    "line", ["-r{toxinidir}/tests/needs.txt", "-r tests/needs.txt", "-rtests{/}needs.txt"]
)
def test_requirement_files_that_tox_names_are_taken(tmp_path: Path, line: str) -> None:
    files = {"tox.ini": f"[testenv]\ndeps =\n  alpha\n  {line}\n  -rgone.txt\n", "tests/needs.txt": "beta\n"}
    plan = plan_for(write(tmp_path, files))
    assert plan.files["tests/needs.txt"] == "beta\n"
    assert "tests/needs.txt" in plan.install
    assert "gone.txt" not in plan.files


def test_requirement_files_are_taken_with_what_they_include_and_without_the_project_itself(
    tmp_path: Path,
) -> None:
    tree = write(
        tmp_path,
        {
            "pyproject.toml": '[project]\nname = "demo"\n[project.optional-dependencies]\ncli = ["click"]\n',
            "requirements.txt": "--prefer-binary\nalpha==1 \\\n  --hash=sha256:aa\n",
            "requirements/tests.txt": "-r common.txt\n-c bounds.txt\n-e .[cli]\nbeta # why\n./vendored\n",
            "requirements/common.txt": "gamma\n",
            "requirements/bounds.txt": "gamma<3\n",
            "requirements/docs.txt": "sphinx\n",
            "requirements-dev.txt": "ruff\n",
        },
    )
    plan = plan_for(tree)
    assert plan.files["requirements.txt"] == "alpha==1    --hash=sha256:aa\n"
    assert plan.files["requirements/tests.txt"] == "-r common.txt\n-c bounds.txt\nbeta\n"
    assert set(plan.install) == {ROOTS, "requirements.txt", "requirements/tests.txt"}
    assert roots(tree) == ["click"]


def test_local_requirements_of_a_group_are_left_out_but_for_the_extras_of_the_project(tmp_path: Path) -> None:
    pyproject = (
        '[project]\nname = "demo"\n[project.optional-dependencies]\ncli = ["click"]\n[dependency-groups]\n'
        'test = ["pytest", "demo[cli] @ file:.", "kit[x] @ file:./kit", "other @ file:///srv/other"]\n'
    )
    assert roots(write(tmp_path, {"pyproject.toml": pyproject})) == ["pytest", "click"]


@pytest.mark.parametrize(
    ("development", "taken"),
    [
        pytest.param("mock\nPyTest==8.3\nnumpy\n", True, id="they bring pytest"),
        pytest.param("sphinx\n", False, id="they bring no pytest"),
    ],
)
def test_files_for_development_are_taken_beside_tests_that_bring_no_pytest(
    tmp_path: Path, development: str, *, taken: bool
) -> None:
    setup = "from setuptools import setup\nsetup(name='demo', tests_require=['mock'])\n"
    plan = plan_for(write(tmp_path, {"setup.py": setup, "requirements-dev.txt": development}))
    assert ("requirements-dev.txt" in plan.install) is taken
    assert "mock" in plan.files[ROOTS]


def test_beside_complete_tests_only_the_plug_ins_of_development_files_are_taken(tmp_path: Path) -> None:
    setup = "from setuptools import setup\nsetup(name='demo', tests_require=['pytest', 'pytest-cov'])\n"
    development = "-e .\nflake8==4.0.1\npytest==6.2.5\npytest-aiohttp==0.3.0  # fixtures\npytest_cov==3.0.0\n"
    plan = plan_for(write(tmp_path, {"setup.py": setup, "requirements-dev.txt": development}))
    assert "requirements-dev.txt" not in plan.install
    named = plan.files[ROOTS].splitlines()
    assert [each for each in named if each.startswith("pytest")][:3] == [
        "pytest",
        "pytest-cov",
        "pytest-aiohttp==0.3.0",
    ]
    assert "flake8" not in plan.files[ROOTS]


def test_requirements_of_other_extras_count_where_tests_import_them(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": (
            '[project]\nname = "demo"\n[project.optional-dependencies]\ntest = ["pytest"]\n'
            'arrays = ["numpy>=2", "scipy"]\ndocs = ["sphinx"]\nall = ["demo[docs,arrays]"]\n'
        ),
        "demo/plots.py": "import scipy\n",
        "demo/tests/test_arrays.py": "import demo\n\ndef test_sum():\n    import numpy as np\n",
    }
    assert roots(write(tmp_path, files)) == ["pytest", "numpy>=2"]


def test_lists_of_setup_py_may_name_others(tmp_path: Path) -> None:
    setup = """\
import os
from setuptools import setup
NEEDS = ["alpha", os.environ["MORE"]]
TESTS = NEEDS + ["pytest", "beta"]
EXTRAS = {"tests": TESTS, "docs": read("docs.txt"), "fast": ["gamma"]}
setup(name="demo", install_requires=NEEDS, extras_require=EXTRAS)
"""
    assert roots(write(tmp_path, {"setup.py": setup})) == ["alpha", "pytest", "beta"]


@pytest.mark.parametrize("outside", ["-r ../secret.txt", "-r /etc/hostname", "-r link.txt", "-r gone.txt"])
def test_a_requirement_file_cannot_include_what_lies_outside_the_tree(tmp_path: Path, outside: str) -> None:
    (tmp_path / "secret.txt").write_text("password\n")
    tree = write(tmp_path / "tree", {"requirements.txt": f"{outside}\n"})
    (tree / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DeclarationError, match="not in the tree"):
        plan_for(tree)


def test_files_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "requirements.txt": "-r test-requirements.txt\n",
            "test-requirements.txt": "-r requirements.txt\nalpha\n",
        },
    )
    assert set(plan_for(tree).install) == {ROOTS, "requirements.txt", "test-requirements.txt"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("poetry.lock", "]"),
        ("pdm.lock", "]"),
        ("Pipfile.lock", "{"),
        ("setup.cfg", "no section"),
        ("requirements.txt", "\udcff"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_name_of_the_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DeclarationError, match=name):
        plan_for(tmp_path)


def test_poetry_lock_bounds_versions_but_not_those_that_it_has_several_of(tmp_path: Path) -> None:
    plan = plan_for(write(tmp_path, {"pyproject.toml": POETRY, "poetry.lock": POETRY_LOCK}))
    assert plan.files[CONSTRAINTS] == "alpha==1.4.1\n"
    assert plan.constraints == (CONSTRAINTS,)


def test_what_tests_import_of_an_extra_or_of_the_lock_is_installed(tmp_path: Path) -> None:
    extras = '[tool.poetry.extras]\nfast = ["gamma"]\nodd = ["unused"]\n'
    optional = 'gamma = {version = "^3", optional = true}\nunused = {version = "*", optional = true}\n'
    text = POETRY.replace('gamma = {version = "*", optional = true}\n', optional) + extras
    tests = {"tests/test_demo.py": "import gamma\nfrom deep import more\n"}
    lock = f'{POETRY_LOCK}[[package]]\nname = "deep"\nversion = "5"\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "poetry.lock": lock, **tests}))
    roots = plan.files[ROOTS].splitlines()
    assert {"gamma>=3,<4", "deep"} <= set(roots)
    assert not any(each.startswith("unused") for each in roots)
    assert "deep==5\n" in plan.files[CONSTRAINTS]


PDM_LOCK = """
[[package]]
name = "alpha"
version = "1.4.1"
groups = ["default"]
[[package]]
name = "alpha"
version = "1.4.1"
extras = ["fast"]
[[package]]
name = "beta"
version = "2.0"
git = "https://example.invalid/beta.git"
"""
PIPFILE_LOCK = """
{"_meta": {}, "default": {"alpha": {"version": "==1.4.1"}, "beta": {"git": "https://example.invalid/beta.git"}},
 "develop": {"alpha": {"version": "==1.4.1"}, "gamma": {"version": "==3; echo"}}}
"""


@pytest.mark.parametrize(("name", "text"), [("pdm.lock", PDM_LOCK), ("Pipfile.lock", PIPFILE_LOCK)])
def test_other_locks_bound_versions_of_releases(tmp_path: Path, name: str, text: str) -> None:
    plan = plan_for(write(tmp_path, {"pyproject.toml": POETRY, name: text}))
    assert plan.files[CONSTRAINTS] == "alpha==1.4.1\n"
    assert plan.how.endswith(name)


def test_uv_lock_decides_alone_and_is_exported_for_the_tests(tmp_path: Path) -> None:
    plan = plan_for(
        write(tmp_path, {"pyproject.toml": GROUPS, "uv.lock": "version = 1\n", "requirements.txt": "other\n"})
    )
    assert plan.install == (LOCKED, ROOTS)
    assert plan.export == (
        "--no-default-groups",
        "--group=tests",
        "--extra=test",
    )
    assert plan.how == "uv.lock"


def test_what_tests_import_of_another_group_is_installed(tmp_path: Path) -> None:
    text = '[project]\nname = "demo"\n[dependency-groups]\ntest = ["pytest"]\ndev = ["black", "alpha>=2"]\n'
    tests = {"tests/test_a.py": "import alpha\n"}
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, **tests}))
    assert plan.files[ROOTS].splitlines() == ["pytest", "alpha>=2", TEST_RUNNER]


def test_a_group_of_any_name_is_chosen_where_only_it_brings_pytest(tmp_path: Path) -> None:
    text = (
        '[tool.poetry]\nname = "demo"\n[tool.poetry.group.dev.dependencies]\nalpha = "*"\n'
        '[tool.poetry.group.every.dependencies]\npytest = "*"\nbeta = "*"\ngamma = "*"\n'
        '[tool.poetry.group.ci.dependencies]\npytest = "*"\nbeta = "*"\n'
    )
    plan = plan_for(write(tmp_path, {"pyproject.toml": text}))
    assert plan.files[ROOTS].splitlines() == ["alpha", "pytest", "beta", TEST_RUNNER]
    plan = plan_for(write(tmp_path, {"pyproject.toml": text.replace('alpha = "*"', 'pytest = "*"')}))
    assert plan.files[ROOTS].splitlines() == ["pytest", TEST_RUNNER]


def test_extras_that_tox_installs_are_exported_from_the_lock_too(tmp_path: Path) -> None:
    text = '[project]\nname = "demo"\n[project.optional-dependencies]\npack = ["alpha"]\nmore = ["beta"]\n'
    tox = "[testenv]\nextras =\n    pack\n"
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": "version = 1\n", "tox.ini": tox}))
    assert plan.export == ("--no-default-groups", "--extra=pack")


def test_only_extras_that_the_lock_has_are_exported(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "demo"\n[project.optional-dependencies]\nPack = ["alpha"]\n',
        "setup.cfg": "[options]\ntests_require = beta\n",
        "uv.lock": "version = 1\n",
        "Makefile": "test:\n\tuv sync --all-extras\n\tpytest\n",
    }
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=Pack")


@pytest.mark.parametrize(
    ("locked", "exported", "roots"), [("Tests = []", ["--group=tests"], ""), ("", [], "alpha\n")]
)
def test_a_group_that_a_lock_does_not_know_is_installed_beside_it(
    tmp_path: Path, locked: str, exported: list[str], roots: str
) -> None:
    text = '[project]\nname = "demo"\n[dependency-groups]\ntests = ["alpha"]\n'
    package = '[[package]]\nname = "demo"\nsource = { editable = "." }\n[package.dev-dependencies]\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": package + locked}))
    assert plan.export == ("--no-default-groups", *exported)
    assert plan.files[ROOTS] == f"{TEST_RUNNER}\n{roots}"


@pytest.mark.parametrize("lock", ["package = 3", "package = [1]", "[[package]]\nsource = 3", "version = 1"])
def test_a_lock_that_does_not_hold_the_project_leaves_the_groups_to_uv(tmp_path: Path, lock: str) -> None:
    text = '[project]\nname = "demo"\n[dependency-groups]\ntest = ["virtue"]\n'
    plan = plan_for(write(tmp_path, {"pyproject.toml": text, "uv.lock": lock}))
    assert plan.export == ("--no-default-groups", "--group=test")


@pytest.mark.parametrize(
    ("files", "needed"),
    [
        ({"a.py": ""}, False),
        ({"pyproject.toml": '[project]\nname = "demo"\n[dependency-groups]\ndev = ["pytest>=8"]\n'}, False),
        ({"requirements.txt": "pytest\n"}, False),
        ({"requirements.txt": "alpha\n"}, True),
        (
            {
                "pyproject.toml": '[project]\nname = "demo"\n',
                "demo.py": "from importlib.metadata import version\n",
            },
            True,
        ),
        ({"demo.py": "from importlib.metadata import version\n"}, False),
    ],
    ids=[
        "nothing",
        "only pytest",
        "only pytest in a file",
        "a requirement",
        "looks itself up",
        "has no name",
    ],
)
def test_who_asks_for_nothing_but_pytest_needs_no_environment(
    tmp_path: Path, files: dict[str, str], needed: bool
) -> None:
    assert plan_for(write(tmp_path, files)).needed is needed


@pytest.mark.parametrize(
    ("files", "brought"),
    [
        ({"a.py": "import pkg_resources\n"}, "setuptools<81\n"),
        ({"tests/conftest.py": "try:\n    from pkg_resources import require\n"}, "setuptools<81\n"),
        ({"a.py": "import pkg_resources\n", "requirements.txt": "setuptools>=61\n"}, "setuptools<81\n"),
        ({"a.py": "import pkg_resources\n", "requirements.txt": "setuptools>=81\n"}, ""),
        ({"a.py": "# import pkg_resources\n"}, ""),
    ],
)
def test_code_that_imports_pkg_resources_gets_a_setuptools_with_it(
    tmp_path: Path, files: dict[str, str], brought: str
) -> None:
    assert plan_for(write(tmp_path, files)).files[ROOTS] == f"{brought}{TEST_RUNNER}\n"


def test_the_key_follows_what_is_installed_and_nothing_else(tmp_path: Path) -> None:
    tree = write(tmp_path, {"pyproject.toml": GROUPS, "demo.py": "A = 1\n"})
    key = plan_for(tree).digest("3.11")
    (tree / "demo.py").write_text("A = 2\n")
    assert plan_for(tree).digest("3.11") == key
    assert plan_for(tree).digest("3.12") != key
    (tree / "pyproject.toml").write_text(GROUPS.replace("alpha>=1", "alpha>=2"))
    assert plan_for(tree).digest("3.11") != key


def test_what_a_candidate_adds_is_found_by_name(tmp_path: Path) -> None:
    base = write(tmp_path / "base", {"pyproject.toml": GROUPS})
    changed = GROUPS.replace(
        '["alpha>=1"]', '["Alpha>=2", "new_one>=1", "odd @ https://host.invalid/odd.whl"]'
    )
    candidate = write(tmp_path / "candidate", {"pyproject.toml": changed, "requirements.txt": "another\n"})
    assert added_requirements(base, candidate) == (
        "new_one>=1",
        "odd @ https://host.invalid/odd.whl",
        "another",
    )
    assert added_requirements(base, base) == ()
    assert added_requirements(None, base)[0] == "alpha>=1"


def test_a_line_of_setup_cfg_may_go_on(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[options]\ninstall_requires =\n  alpha>=1; \\\n    python_version > '3'\n  beta\n"
    )
    assert plan_for(tmp_path).files[ROOTS].splitlines()[:2] == ["alpha>=1; python_version > '3'", "beta"]


def test_settings_of_setup_cfg_may_refer_to_others(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[options.extras_require]\ntest =\n  %(Fast)s\n  %(fast)s\n  gamma\nfast =\n  alpha\n  %(test)s\n"
    )
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["alpha", "gamma", TEST_RUNNER]


def test_a_chain_of_references_ends(tmp_path: Path) -> None:
    chain = "".join(f"a{number} =\n  %(a{number + 1})s\n" for number in range(5000))
    (tmp_path / "setup.cfg").write_text(f"[options.extras_require]\ntest =\n  %(a0)s\n{chain}")
    assert any("%(a" in line for line in plan_for(tmp_path).files[ROOTS].splitlines())


def test_benchmarks_belong_to_the_tests_where_they_bring_a_plug_in(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "demo"\n[project.optional-dependencies]\ntest = ["pytest"]\n'
        'benchmarking = ["pytest-benchmark"]\nbench = ["asv"]\ndocs = ["pytest-sphinx"]\n'
    )
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["pytest", "pytest-benchmark", TEST_RUNNER]


def test_what_is_for_another_interpreter_is_not_added(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "demo"\n'
        "dependencies = [\"alpha; python_version < '3'\", \"beta; python_version > '3'\"]\n"
    )
    assert added_requirements(None, tmp_path) == ("beta; python_version > '3'",)


def test_variants_of_a_requirement_file_are_left_where_there_is_a_plain_one(tmp_path: Path) -> None:
    places = ("tests.txt", "tests-min.txt", "tests-dev.txt")
    (tmp_path / "requirements").mkdir()
    for name in places:
        (tmp_path / "requirements" / name).write_text("alpha\n")
    assert plan_for(tmp_path).install == (ROOTS, "requirements/tests.txt")
    (tmp_path / "requirements/tests.txt").unlink()
    assert set(plan_for(tmp_path).install) == {
        ROOTS,
        "requirements/tests-min.txt",
        "requirements/tests-dev.txt",
    }


def test_extras_that_tox_installs_for_its_tests_are_there(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "demo"\n[project.optional-dependencies]\ntest = ["pytest"]\n'
        'crypto = ["alpha"]\nlinks = ["beta"]\nplugins = ["gamma"]\nnever = ["delta"]\n'
    )
    (tmp_path / "tox.ini").write_text(
        "[testenv]\nextras =\n    test\n    crypto: Crypto\n    !crypto: never\n    unknown\n"
        "[testenv:py{310,311}]\nextras = links\n[testenv:docs]\nextras = plugins\n"
    )
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["pytest", "alpha", "beta", TEST_RUNNER]
    (tmp_path / "tox.ini").write_text("no section\n")
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["pytest", TEST_RUNNER]


def test_the_only_line_of_a_setting_in_setup_cfg_is_separated_by_semicolons(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[options]\ninstall_requires = alpha; beta\n"
        "[options.extras_require]\ntests = gamma;delta>=1\ndocs =\n    eps; python_version < '3'\n"
    )
    asked = wanted(tmp_path)
    assert asked.requirements == ["alpha", "beta"]
    assert asked.extras["tests"] == ["gamma", "delta>=1"]
    assert asked.extras["docs"] == ["eps; python_version < '3'"]


def test_a_locked_extra_that_tests_import_is_installed(tmp_path: Path) -> None:
    text = '[project]\nname = "demo"\n[project.optional-dependencies]\nfast = ["speedy"]\nother = ["slow"]\n'
    files = {"pyproject.toml": text, "uv.lock": "version = 1\n", "tests/test_a.py": "import speedy\n"}
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=fast")
    conflicts = '[tool.uv]\nconflicts = [[{ extra = "fast" }, { extra = "other" }]]\n'
    files["pyproject.toml"] += conflicts
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups",)
    others = '[tool.uv]\nconflicts = [[{ group = "old" }, { group = "new" }, { extra = "other" }]]\n'
    files["pyproject.toml"] = text + others
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--extra=fast")


HOOKS = """repos:
  - repo: https://github.com/somebody/foo-stubs
    rev: v1.0
  - repo: https://github.com/pre-commit/mirrors-mypy
    hooks:
      - id: mypy
        additional_dependencies: [types-alpha, "types-beta[fast]>=1,<2", pydantic>=2]  # types-none
      - id: mypy
        additional_dependencies:
          - pandas-stubs == 2.*
          - types-alpha
"""


def test_packages_of_types_are_installed_wherever_they_stand(tmp_path: Path) -> None:
    groups = '[dependency-groups]\ntest = ["pytest"]\ntyping = ["types-alpha~=1.0", "mypy"]\n'
    files = {"pyproject.toml": groups, ".pre-commit-config.yaml": HOOKS}
    plan = plan_for(write(tmp_path, files))
    stubs = ["types-alpha~=1.0", "types-beta[fast]>=1,<2", "pandas-stubs == 2.*"]
    assert plan.files[ROOTS].splitlines() == ["pytest", *stubs, TEST_RUNNER]
    assert plan.optional == {"types-alpha", "types-beta", "pandas-stubs"}
    assert plan_for(write(tmp_path, {**files, "uv.lock": "version = 1\n"})).files[ROOTS].splitlines() == [
        TEST_RUNNER,
        *stubs,
    ]


def test_the_groups_that_uv_installs_by_default_are_installed(tmp_path: Path) -> None:
    text = '[dependency-groups]\ntest = ["pytest"]\nDocs = ["alpha"]\nci = ["beta"]\n[tool.uv]\n'
    files = {"uv.lock": "version = 1\n", "pyproject.toml": text + 'default-groups = ["test", "docs"]\n'}
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--group=test", "--group=Docs")
    files["pyproject.toml"] = text + 'default-groups = "all"\n'
    assert plan_for(write(tmp_path, files)).export[-1] == "--group=ci"
    files["pyproject.toml"] = text + "default-groups = 3\n"
    assert plan_for(write(tmp_path, files)).export == ("--no-default-groups", "--group=test")


def test_a_namespace_of_pkg_resources_needs_setuptools(tmp_path: Path) -> None:
    files = {"zoo/__init__.py": "__import__('pkg_resources').declare_namespace(__name__)\n"}
    assert "setuptools<81" in plan_for(write(tmp_path, files)).files[ROOTS]


def test_the_older_table_of_flit_is_read(tmp_path: Path) -> None:
    text = """
[tool.flit.metadata]
module = "demo"
requires = ["alpha>=1"]
requires-python = ">=3.7"
[tool.flit.metadata.requires-extra]
test = ["beta"]
"""
    plan = plan_for(write(tmp_path, {"pyproject.toml": text}))
    assert plan.files[ROOTS].splitlines() == ["alpha>=1", "beta", TEST_RUNNER]
    assert plan.project is not None
    assert (plan.project.name, plan.requires_python) == ("demo", ">=3.7")
