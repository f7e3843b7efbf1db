"""The command line ``build-dataset``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from pipeline.cli.app import main as run

    run()
