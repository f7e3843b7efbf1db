"""Data files that a package ships."""

import tomllib
from importlib.resources import files
from typing import Any


def shipped_toml(package: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file beside the modules of a package."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))
