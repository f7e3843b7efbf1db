"""Fixtures that start real servers."""

import re
from collections.abc import Iterator

import pytest

from build_dataset.annotation.params import ReviewParams
from build_dataset.schemas.dataset import DatasetParams
from tests.services.browser import CHROMIUM, Page, browser
from tests.services.label_studio_server import ADMIN, LabelStudioServer, label_studio, label_studio_template
from tests.services.llm_server import llm_server

__all__ = ["label_studio", "label_studio_template", "llm_server"]


@pytest.fixture
def context(context, request: pytest.FixtureRequest):
    """Each test has a dataset, and so a project, of its own."""
    context.dataset = DatasetParams(name=re.sub(r"\W+", "-", request.node.name), raw=context.raw, build=context.build)
    return context


@pytest.fixture
def params(label_studio: LabelStudioServer, monkeypatch: pytest.MonkeyPatch) -> ReviewParams:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", ADMIN.token)
    return ReviewParams(url=label_studio.url, bootstrap=100)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of a real browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with browser() as opened:
        yield opened
