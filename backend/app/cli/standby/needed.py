"""Imports in advance what hooks use. A test reports missing modules."""

import gc
from importlib import import_module

import anyio
import anyio.lowlevel

from app.cli.importing import quick_imports
from app.cli.main import prepare

_PROGRAM = __name__.removesuffix(".cli.standby.needed")
_OF_HOOKS = (
    "cli.commands.hook",
    "cli.formats.report",
    "cli.hooks.answer",
    "cli.hooks.pre_push",
    "cli.hooks.protocol",
    "cli.hooks.session",
    "cli.hooks.state",
    "cli.judging",
    "cli.standby.working",
    "composition.judging",
    "core.environment_settings",
    "runners.evaluators.testing.gate_run",
    "schemas.api.workspace_reports",
    "services.local.changes",
)
_OF_MODELS = ("composition.models", "runners.evaluators.model_registry")
_LIBRARIES = ("anyio.from_thread", "concurrent.futures.thread", "encodings.utf_8_sig")
_LIBRARIES_OF_MODELS = (
    *(f"pydantic_ai.{part}.{name}" for part in ("models", "providers") for name in ("anthropic", "openai")),
    "pydantic_ai.profiles.openai",
)


def load_needed() -> None:
    """Import what hooks use without models."""
    prepare()
    _load([*_LIBRARIES, *(f"{_PROGRAM}.{each}" for each in _OF_HOOKS)])
    # anyio loads its backend when it is first asked to run something.
    anyio.run(anyio.lowlevel.checkpoint)


def load_models() -> None:
    """Import what hooks also use if a model has a key. It is slow to import and takes memory."""
    _load([*_LIBRARIES_OF_MODELS, *(f"{_PROGRAM}.{each}" for each in _OF_MODELS)])


def _load(names: list[str]) -> None:
    with quick_imports():
        for each in names:
            import_module(each)
    # Forked processes share memory until one writes to it, as the collector does.
    gc.collect()
    gc.freeze()
