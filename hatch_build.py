"""Build the wheel: everything under one import name, ``build_dataset``, and the sample exam inside.

The repository keeps ``schemas/``, ``pipeline/`` and ``annotation/`` at its top, where a reader sees them; in
site-packages such names would belong to everybody. The copies that go into the wheel import each other as
``build_dataset.pipeline`` and so on; nothing else about them changes. An editable install gets a ``build_dataset`` that
points here.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "build_dataset"
PACKAGES = ("schemas", "pipeline", "annotation")
_IMPORT = re.compile(rf"^(\s*(?:from|import) )({'|'.join(PACKAGES)})(?=[.\s])", re.MULTILINE)
_NAMED = re.compile(rf'(files\()?"({"|".join(PACKAGES)})((?:\.\w+)*(?::[\w.]+)?)"')
"""``"pipeline.clean.stage:run"``, ``"pipeline.report:report.html"``, ``files("schemas")``; not the word "schemas"."""
_INIT = '''"""Turn exam papers into a benchmark you can trust: ``build`` a dataset, read a ``table`` of it."""

from {prefix}pipeline.api import build, table

__all__ = ["build", "main", "table"]


def main() -> None:
    """Run the command line."""
    from {prefix}pipeline.cli import main

    main()
'''
_MAIN = f"from {NAME} import main\n\nmain()\n"


class OneName(BuildHookInterface):
    """Fills the wheel; see the module."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write what goes into the wheel to a temporary folder and name it."""
        self._folder = Path(tempfile.mkdtemp())
        editable = version == "editable"
        prefix = "" if editable else f"{NAME}."
        (self._folder / "__init__.py").write_text(_INIT.format(prefix=prefix), encoding="utf-8")
        (self._folder / "__main__.py").write_text(_MAIN, encoding="utf-8")
        (self._folder / "py.typed").touch()
        if not editable:
            for package in PACKAGES:
                self._copy(Path(self.root) / package, self._folder / package)
            shutil.copytree(Path(self.root) / "raw" / "sample" / "papers", self._folder / "sample")
        included = build_data["force_include_editable" if editable else "force_include"]
        included[str(self._folder)] = NAME

    def finalize(self, *_: Any) -> None:
        """Remove the temporary folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _copy(self, source: Path, target: Path) -> None:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        for path in target.rglob("*.py"):
            path.write_text(nested(path.read_text(encoding="utf-8")), encoding="utf-8")


def nested(source: str) -> str:
    """Return a module's source with the imports and names of our modules below ``build_dataset``."""
    return _NAMED.sub(_below, _IMPORT.sub(rf"\1{NAME}.\2", source))


def _below(found: re.Match[str]) -> str:
    opened, package, rest = found[1] or "", found[2], found[3]
    return f'{opened}"{NAME}.{package}{rest}"' if opened or rest else found[0]
