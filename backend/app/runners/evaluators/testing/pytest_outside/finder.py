"""Lets the judge's process import stand-ins for the candidate's modules, and the real tests."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from .link import PeerLink, refuse
from .mirror import ProxyModule

_SUFFIXES = tuple(importlib.machinery.all_suffixes())


class CandidateFinder(MetaPathFinder, Loader):
    """Finds each module of the tree that is neither a test nor a helper of tests.

    Args:
        tree: the tree, absolute.
        support: POSIX paths of the files that belong to the tests, relative to the tree.
        link: the connection to the candidate's process.
    """

    def __init__(self, tree: Path, support: frozenset[str], link: PeerLink) -> None:
        self._tree = tree
        self._support = support
        self._folders = {parent for name in support for parent in Path(name).parents}
        self._link = link

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for a module of the candidate. Return None for all other modules."""
        places = sys.path if path is None else path
        roots = [Path(each or ".").absolute() for each in places if type(each) is str]
        name = fullname.rpartition(".")[2]
        for root in roots:
            found = self._find(root, name)
            if found is not None:
                return found(fullname)
        parent = sys.modules.get(fullname.rpartition(".")[0])
        # A package may create modules dynamically, and only its own process knows them.
        return (
            self._virtual(fullname)
            if isinstance(parent, ProxyModule) and not self._is_real(roots, name)
            else None
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Import the module in the candidate's process, and return its stand-in."""
        module = self._link.request("import", spec.name)
        if not isinstance(module, ProxyModule):
            raise refuse(f"{spec.name} is no module")
        if spec.has_location:
            # The import system would ask for these.
            module.__file__, module.__cached__ = spec.origin, None
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, because none of its code runs here."""

    def _find(self, root: Path, name: str) -> Callable[[str], ModuleSpec | None] | None:
        """Look for a module in one directory of the tree.

        The result returns None for the tests' own modules.
        """
        if root != self._tree and self._tree not in root.parents:
            return None
        package = root / name / "__init__.py"
        files = [package, *(root / f"{name}{suffix}" for suffix in _SUFFIXES)]
        for file in files:
            if file.is_file():
                if file.relative_to(self._tree).as_posix() in self._support:
                    return lambda fullname: None
                return lambda fullname, file=file: self._spec(fullname, file)
        folder = root / name
        if folder.is_dir() and folder.relative_to(self._tree) in self._folders:
            return lambda fullname: None
        return self._namespace(folder) if folder.is_dir() else None

    def _namespace(self, folder: Path) -> Callable[[str], ModuleSpec | None] | None:
        if not any(folder.glob("*.py")) and not any(folder.glob("*/*.py")):
            return None
        return lambda fullname: self._spec(fullname, folder / "__init__.py")

    def _spec(self, fullname: str, file: Path) -> ModuleSpec:
        spec = ModuleSpec(fullname, self, origin=str(file), is_package=file.name == "__init__.py")
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(file.parent))
        return spec

    def _virtual(self, fullname: str) -> ModuleSpec:
        return ModuleSpec(fullname, self)

    def _is_real(self, roots: list[Path], name: str) -> bool:
        return any((root / name).is_dir() or (root / f"{name}.py").is_file() for root in roots)
