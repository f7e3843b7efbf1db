"""Fixtures for tests of annotators."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from build_dataset.annotation.llm import limits
from tests.annotation.scripted_server import ScriptedServer


@contextmanager
def started(kind: type, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start servers that are closed in the end, for clients that know no key of OpenAI's."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    servers: list[Any] = []

    def start(*given: Any, **more: Any) -> Any:
        servers.append(kind(*given, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ScriptedServer]]:
    """Starts scripted servers; backoff is shortened, what an endpoint asks to wait is not."""
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    with started(ScriptedServer, monkeypatch) as start:
        yield start
