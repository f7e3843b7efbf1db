"""Fixtures that start real servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.browser import CHROMIUM, Page, browser
from tests.services.label_studio_server import label_studio, label_studio_template
from tests.services.llm_server import llm_server

__all__ = ["label_studio", "label_studio_template", "llm_server"]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of a real browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with browser() as opened:
        yield opened
