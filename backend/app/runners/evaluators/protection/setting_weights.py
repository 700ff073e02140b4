"""Weighs the effect of a setting's changed value on later runs, by a table. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from app.runners.evaluators.protection.ruff_exceptions import is_about_new_rules
from app.runners.evaluators.protection.tool_settings import ToolSettings, Value


class Weight(StrEnum):
    """The effect of a changed setting on later runs. `UNKNOWN` may weaken them."""

    HARMLESS = "harmless"
    WEAKER = "weaker"
    UNKNOWN = "unknown"


def without(some: Iterable[str], others: Sequence[str]) -> list[str]:
    """Return the values of one list that another one lacks."""
    return [each for each in some if each not in others]


_Rule = Callable[[Value | None, Value | None], Weight]


def weigh(tool: str, key: str, old: Value | None, new: Value | None, before: ToolSettings) -> Weight:
    """Weigh a changed setting. One that is not in the table is unknown.

    Args:
        tool: its name in `tool_settings`.
        key: the key of the setting.
        old: its value at the base; None if it was not set.
        new: its value in the candidate; None if it is not set.
        before: the tool's settings at the base.
    """
    if tool == "pytest" and key in _WITH_OTHERS:
        return _WITH_OTHERS[key](old, new, before)
    if tool == "ruff" and is_about_new_rules(key, old, new, before):
        return Weight.HARMLESS
    for pattern, rule in _RULES[tool]:
        if pattern.fullmatch(key):
            return rule(old, new)
    return Weight.UNKNOWN


def _harmless(_: Value | None, __: Value | None) -> Weight:
    return Weight.HARMLESS


def _strict(old: Value | None, new: Value | None) -> Weight:
    """Weigh a switch that requires more if it is on."""
    return Weight.HARMLESS if new is True else Weight.WEAKER if old is True else _off(old, new)


def _loose(old: Value | None, new: Value | None) -> Weight:
    """Weigh a switch that requires less if it is on."""
    return Weight.WEAKER if new is True else Weight.HARMLESS if old is True else _off(old, new)


def _off(old: Value | None, new: Value | None) -> Weight:
    return Weight.HARMLESS if {old, new} <= {None, False} else Weight.UNKNOWN


def _on_by_default(old: Value | None, new: Value | None) -> Weight:
    """Weigh a switch that requires more if it is on, and is on by default."""
    return _strict(True if old is None else old, True if new is None else new)


def _more(old: Value | None, new: Value | None) -> Weight:
    """Weigh a list that requires more if it is longer. A prefix stands for everything that begins with it."""
    if not (isinstance(old, tuple) and isinstance(new, tuple)):
        return Weight.UNKNOWN
    return Weight.HARMLESS if all(_covers(new, each) for each in old) else Weight.WEAKER


def _paths(old: Value | None, new: Value | None) -> Weight:
    """Weigh a list of paths that requires more if it is longer. A directory includes everything below it."""
    if not (isinstance(old, tuple) and isinstance(new, tuple)):
        return Weight.UNKNOWN
    above = [f"{each.rstrip('/')}/" for each in new]
    covered = all(each in new or each.startswith(tuple(above)) for each in old)
    return Weight.HARMLESS if covered else Weight.WEAKER


def _more_or_none(old: Value | None, new: Value | None) -> Weight:
    """Weigh a list that adds to a default."""
    return _more(old or (), new or ())


def _fewer(old: Value | None, new: Value | None) -> Weight:
    """Weigh a list that requires less if it is longer."""
    known, now = (each if each is not None else () for each in (old, new))
    if not (isinstance(known, tuple) and isinstance(now, tuple)):
        return Weight.UNKNOWN
    return Weight.HARMLESS if all(_covers(known, each) for each in now) else Weight.WEAKER


def _covers(rules: Sequence[str], one: str) -> bool:
    return one in rules or "ALL" in rules or any(_is_prefix(each, one) for each in rules)


def _is_prefix(rule: str, of: str) -> bool:
    return re.fullmatch(r"[A-Z]+[0-9]*", rule) is not None and re.fullmatch(rule + r"[0-9]+", of) is not None


def _limit(old: Value | None, new: Value | None) -> Weight:
    """Weigh a number that requires less if it is larger."""
    if not (isinstance(old, str) and isinstance(new, str) and old.isdecimal() and new.isdecimal()):
        return Weight.UNKNOWN
    return Weight.HARMLESS if int(new) <= int(old) else Weight.WEAKER


def _ranked(*ranks: str) -> _Rule:
    """Return a rule for a word that requires more the later it is in `ranks`. `|` joins words of one rank."""
    places = {word: place for place, words in enumerate(ranks) for word in words.split("|")}

    def weigh(old: Value | None, new: Value | None) -> Weight:
        one, other = (places.get(str(each).lower()) for each in (old, new))
        if other is None or (one is None and other != len(ranks) - 1):
            return Weight.UNKNOWN
        return Weight.HARMLESS if one is None or other >= one else Weight.WEAKER

    return weigh


def _version(old: Value | None, new: Value | None) -> Weight:
    """Weigh the Python version that a checker assumes. Dropping an old version is everyday work."""
    one, other = (_numbers(each) for each in (old, new))
    return Weight.HARMLESS if other is None or (one is not None and other >= one) else Weight.UNKNOWN


def _numbers(value: Value | None) -> tuple[int, int] | None:
    found = re.fullmatch(r"(?:py)?(3)\.?(\d+)", value) if isinstance(value, str) else None
    return (int(found[1]), int(found[2])) if found else None


# Options of pytest that only affect its report, and those of plug-ins that no gate loads.
_REPORTING = re.compile(
    r"-r=?\w*|-v+|-q+|-l|--verbose|--quiet|--showlocals|--tb=\w+|--color=\w+|--durations(?:-min)?=\S+|--code-highlight"
    r"=\w+|--cov(?:-\S+|=\S+)?|--no-cov\S*|--junit-?xml=\S+|--log-\S+|-n(?:=?auto|=?\d+)|--dist=\w+|--numprocesses=\w+"
    r"|--html=\S+|--no-header|--no-summary|--show-capture=\w+|--instafail|--maxfail=\d+|-x|--exitfirst|--ff|--nf"
)
_TAKES_A_WORD = frozenset({"-n", "-p", "-m", "-k", "-W", "-o", "-c", "-r", "--ignore", "--deselect"})
_ASKING = re.compile(
    r"-W=error|--strict(?:-markers|-config)?|--doctest-modules|--doctest-glob=\S+|-Werror|--xdoctest"
)


def _options(old: Value | None, new: Value | None, settings: ToolSettings) -> Weight:
    sides = [_joined(each) if isinstance(each, tuple) else [] for each in (old, new)]
    before, after = ([each for each in side if not _REPORTING.fullmatch(each)] for side in sides)
    added = [each for each in after if each not in before]
    kept = [each for each in after if each in before]
    if kept != before:
        return Weight.UNKNOWN
    is_harmless = all(_ASKING.fullmatch(each) or _ignores_no_tests(each, settings) for each in added)
    return Weight.HARMLESS if is_harmless else Weight.UNKNOWN


def _ignores_no_tests(option: str, settings: ToolSettings) -> bool:
    """Return True for `--ignore` with a directory beside all those in which the base looks for tests."""
    places = settings.values.get("testpaths")
    ignored = option.removeprefix("--ignore=").strip("/")
    if ignored == option or not isinstance(places, tuple) or not re.fullmatch(r"\w[\w/-]*", ignored):
        return False
    below = [f"{each.removeprefix('./').strip('/')}/" for each in places]
    return bool(below) and not any(
        each.startswith(f"{ignored}/") or f"{ignored}/".startswith(each) for each in below
    )


def _joined(words: Iterable[str]) -> list[str]:
    """Write `-n auto` as `-n=auto`."""
    found: list[str] = []
    for each in words:
        if found and found[-1] in _TAKES_A_WORD:
            found[-1] += f"={each}"
        else:
            found.append(each)
    return found


def _test_paths(old: Value | None, new: Value | None) -> Weight:
    """Weigh the directories in which pytest looks for tests. Without any, it looks everywhere."""
    return Weight.HARMLESS if new is None else _paths(old, new)


def _warnings(old: Value | None, new: Value | None, before: ToolSettings) -> Weight:
    """Weigh ignored warnings. They hide nothing if no warning is an error; otherwise each one may."""
    entries = [each if isinstance(each, tuple) else () for each in (old, new)]
    options = before.values.get("addopts")
    raises = any(each.startswith("error") for each in entries[0]) or "error" in str(options)
    if not raises:
        return Weight.HARMLESS
    added, gone = without(entries[1], entries[0]), without(entries[0], entries[1])
    is_stricter = all(each.startswith("error") for each in added)
    return (
        Weight.HARMLESS
        if is_stricter and not any(each.startswith("error") for each in gone)
        else Weight.WEAKER
    )


_WITH_OTHERS = {"addopts": _options, "filterwarnings": _warnings}
"""Settings of pytest whose effect depends on others."""


def _rules(*pairs: tuple[str, _Rule]) -> tuple[tuple[re.Pattern[str], _Rule], ...]:
    return tuple((re.compile(pattern), rule) for pattern, rule in pairs)


_MYPY_SWITCH = r"(?:overrides\..+\.)?"
_RULES: Mapping[str, tuple[tuple[re.Pattern[str], _Rule], ...]] = {
    "pytest": _rules(
        (
            "markers|minversion|required_plugins|console_output_style|cache_dir|empty_parameter_set_mark",
            _harmless,
        ),
        (
            r"log_\w+|junit_\w+|verbosity_\w+|faulthandler_\w+|tmp_path_\w+|truncation_\w+|doctest_encoding",
            _harmless,
        ),
        (r"asyncio_default_\w+_loop_scope", _harmless),
        ("xfail_strict|strict(?:_markers|_config|_parametrization_ids|_xfail)?", _strict),
        ("testpaths", _test_paths),
        ("python_files|python_classes|python_functions", _more),
        ("norecursedirs", _fewer),
    ),
    "ruff": _rules(
        ("target-version", _version),
        (
            r"format(?:\..+)?|src|fix|fix-only|unsafe-fixes|show-fixes|output-format|cache-dir|indent-width",
            _harmless,
        ),
        (
            r"required-version|analyze\..+|lint\.(?:un)?fixable|lint\.extend-unfixable|lint\.task-tags",
            _harmless,
        ),
        (r"lint\.isort(?:\..+)?|lint\.pyupgrade\..+|lint\.pydocstyle\..+|lint\.flake8-quotes\..+", _harmless),
        (r"lint\.explicit-preview-rules|lint\.ignore-init-module-imports|lint\.typing-modules", _harmless),
        (r"(?:lint\.)?preview", _strict),
        (r"lint\.select", _more),
        (r"lint\.extend-select|extend-include", _more_or_none),
        (r"lint\.ignore|lint\.per-file-ignores\..+|(?:lint\.)?(?:extend-)?exclude", _fewer),
        (r"line-length|lint\.mccabe\.max-complexity|lint\.pylint\.max-.+|lint\.pycodestyle\.max-.+", _limit),
    ),
    "mypy": _rules(
        ("python_version", _version),
        (r"pretty|show_\w+|color_output|hide_error_codes|error_summary|cache_dir|sqlite_cache", _harmless),
        (r"incremental|verbosity|cache_fine_grained|skip_cache_mtime_checks|warn_unused_configs", _harmless),
        (
            _MYPY_SWITCH + r"(?:strict\w*|disallow_\w+|check_untyped_defs|extra_checks|local_partial_types)",
            _strict,
        ),
        (_MYPY_SWITCH + r"(?:warn_(?!no_return)\w+|no_implicit_reexport|follow_untyped_imports)", _strict),
        (_MYPY_SWITCH + r"(?:warn_no_return|no_implicit_optional|strict_optional)", _on_by_default),
        # For a package that is installed without types, it changes nothing but the message about that.
        (r"overrides\.\w[\w.]*(?:\.\*)?\.ignore_missing_imports", _harmless),
        (_MYPY_SWITCH + r"(?:ignore_\w+|allow_\w+|implicit_optional|follow_imports_for_stubs_off)", _loose),
        (_MYPY_SWITCH + r"implicit_reexport", _loose),
        (_MYPY_SWITCH + "enable_error_code", _more_or_none),
        (_MYPY_SWITCH + "disable_error_code", _fewer),
        ("files", _paths),
        ("packages|modules", _more),
        ("exclude", _fewer),
    ),
    **dict.fromkeys(
        ("pyright", "basedpyright"),
        _rules(
            ("pythonVersion", _version),
            ("venv|venvPath|pythonPlatform|useLibraryCodeForTypes|verboseOutput", _harmless),
            ("typeCheckingMode", _ranked("off", "basic", "standard", "strict", "recommended", "all")),
            (r"report\w+", _ranked("none|false", "information|hint", "warning", "error|true")),
            (r"strict\w+|analyzeUnannotatedFunctions|deprecateTypingAliases", _strict),
            ("include|strict", _paths),
            ("exclude|ignore", _fewer),
        ),
    ),
    "ty": _rules(
        (r"environment\.python-version", _version),
        (r"rules\..+", _ranked("ignore", "warn", "error")),
        (r"terminal\..+", _harmless),
    ),
    "build-system": _rules(("requires", _harmless)),
}
