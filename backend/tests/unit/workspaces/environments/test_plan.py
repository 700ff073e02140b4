"""What is to be installed for a tree, read from each of the forms in which projects state it."""

from pathlib import Path

import pytest

from app.workspaces.environments.added import added_requirements
from app.workspaces.environments.groups import wanted
from app.workspaces.environments.plan import ROOTS, TEST_RUNNER, plan_for
from app.workspaces.environments.reading import DeclarationError, read_ini
from tests.unit.workspaces.environments.plan_support import GROUPS, POETRY, roots, write

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
    "tox in setup.cfg": (
        {"setup.cfg": "[tox:tox]\nenvlist = py\n[testenv]\ndeps =\n  alpha\n  dj42: beta\n"},
        ["alpha"],
    ),
    "tox.ini without tox": (
        {"tox.ini": "[flake8]\nignore = E1\n", "setup.cfg": "[tox:tox]\n[testenv]\ndeps = alpha\n"},
        ["alpha"],
    ),
    "tox as a text in pyproject.toml": (
        {"pyproject.toml": '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps =\n  alpha\n"""\n'},
        ["alpha"],
    ),
    "tox in pyproject.toml": (
        {"pyproject.toml": '[tool.tox.env_run_base]\ndeps = ["alpha", {replace = "ref"}, "-r a.txt"]\n'},
        ["alpha"],
    ),
    "tox.toml": ({"tox.toml": '[env_run_base]\ndeps = ["alpha"]\n[env.3]\ndeps = ["beta"]\n'}, ["alpha"]),
    "tox before nox": ({"noxfile.py": NOX, "tox.ini": "[testenv]\ndeps =\n  beta\n"}, ["beta"]),
    "nothing": ({"main.py": "import os\n"}, []),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_roots(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert roots(write(tmp_path, files)) == expected


def test_local_requirements_of_a_group_are_left_out_but_for_the_extras_of_the_project(tmp_path: Path) -> None:
    pyproject = (
        '[project]\nname = "demo"\n[project.optional-dependencies]\ncli = ["click"]\n[dependency-groups]\n'
        'test = ["pytest", "demo[cli] @ file:.", "kit[x] @ file:./kit", "other @ file:///srv/other"]\n'
    )
    assert roots(write(tmp_path, {"pyproject.toml": pyproject})) == ["pytest", "click"]


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


def test_references_to_a_long_setting_do_not_multiply_it(tmp_path: Path) -> None:
    many = "".join(f"a{number} =\n  %(long)s\n" for number in range(1000))
    (tmp_path / "setup.cfg").write_text(f"[demo]\nlong = {'x' * 60_000}\n{many}")
    settings = read_ini(tmp_path, "setup.cfg")["demo"]
    assert [len(settings[name]) for name in ("a0", "a1", "a999")] == [60_001, 9, 9]


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


def test_an_extra_of_a_feature_tells_nothing_about_what_tests_need(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "demo"\n[project.optional-dependencies]\ncrypto = ["alpha"]\n'
    )
    (tmp_path / "tox.ini").write_text("[testenv]\nextras = crypto\ndeps =\n    beta<2\n    pytest\n")
    assert plan_for(tmp_path).files[ROOTS].splitlines() == ["beta<2", "pytest", "alpha", TEST_RUNNER]


def test_the_only_line_of_a_setting_in_setup_cfg_is_separated_by_semicolons(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text(
        "[options]\ninstall_requires = alpha; beta\n"
        "[options.extras_require]\ntests = gamma;delta>=1\ndocs =\n    eps; python_version < '3'\n"
    )
    asked = wanted(tmp_path)
    assert asked.requirements == ["alpha", "beta"]
    assert asked.extras["tests"] == ["gamma", "delta>=1"]
    assert asked.extras["docs"] == ["eps; python_version < '3'"]


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
