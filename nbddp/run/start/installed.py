"""Which modules are installed packages, and so may be imported before a run: a user's own module never is."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import all_suffixes
from pathlib import Path
from types import ModuleType

OURS = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installed:
    """The folders of this interpreter: its standard library, and where packages are installed."""

    library: tuple[str, ...]
    packages: tuple[str, ...]

    @classmethod
    def of_this_interpreter(cls) -> Installed:
        """As this interpreter finds them."""
        paths = sysconfig.get_paths()
        users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
        library = {paths["stdlib"], paths["platstdlib"], str(Path(os.__file__).parent)}
        packages = {paths["purelib"], paths["platlib"], *site.getsitepackages(), *users}
        return cls(tuple(sorted(library)), tuple(sorted(packages)))

    def holds(self, path: str) -> bool:
        """Whether this folder or file is of the standard library or an installed package."""
        roots = (*self.library, *self.packages)
        return path.endswith(".zip") or any(path == root or path.startswith(root + os.sep) for root in roots)

    def is_stray(self, module: ModuleType) -> bool:
        """Whether a module came from elsewhere: from the user's own folders."""
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not Path(file).is_absolute():
            return False  # built in, or one of torch's modules that are made up as it is imported
        return not self.holds(file) and OURS not in Path(file).parents

    def fingerprint(self) -> tuple[tuple[str, int], ...]:
        """Changes when a package is installed or removed."""
        return tuple((path, Path(path).stat().st_mtime_ns) for path in self.packages if Path(path).exists())

    def shadowed(self, path: Iterable[str], modules: Mapping[str, object]) -> str:
        """A file of the user's that would be imported instead of a module already there, were it not there."""
        known = {name for name in modules if "." not in name} - set(sys.builtin_module_names) - {"nbddp"}
        for folder in path:
            for name in _names_in(folder):
                stem = name.split(".")[0]
                if stem in known and self._would_win(Path(folder, name), stem):
                    return str(Path(folder, name))
        return ""

    @staticmethod
    def _would_win(path: Path, stem: str) -> bool:
        if path.is_dir():
            return (path / "__init__.py").exists()
        return any(path.name == stem + suffix for suffix in all_suffixes())


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")
    except OSError:
        return []
