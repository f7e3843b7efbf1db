"""The command line ``build-dataset``."""

from __future__ import annotations

from pipeline.cli.app import main

__all__ = ["main"]
