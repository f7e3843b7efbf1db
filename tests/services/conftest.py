"""Fixtures that start real servers."""

from __future__ import annotations

from tests.services.label_studio_server import label_studio, label_studio_template
from tests.services.llm_server import llm_server

__all__ = ["label_studio", "label_studio_template", "llm_server"]
