"""Records of stages' own runs."""

from __future__ import annotations

from schemas.base import Record


class StageManifest(Record):
    """A stage and its manifest."""

    stage: str
    title: str
    manifest: str | None
    """Its ``manifest.json`` without the fingerprint: counts, reasons, facts, params, inputs, outputs, versions; null
    when it has not run."""
