"""Messages are in the locale's language again after every test."""

from collections.abc import Iterator

import pytest

from build_dataset.pipeline.cli.language import choose


@pytest.fixture(autouse=True)
def _locale_afterwards() -> Iterator[None]:
    yield
    choose(None)
