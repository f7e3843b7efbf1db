"""``review``: settle labels, and ``review push|pull|status`` for Label Studio."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    _ = app
