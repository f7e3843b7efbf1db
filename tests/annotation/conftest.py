"""Fixtures for tests of annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from build_dataset.annotation.llm import limits
from tests.annotation.scripted_server import Reply, Script, ScriptedServer


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ScriptedServer]]:
    """Starts scripted servers; backoff is shortened, what an endpoint asks to wait is not."""
    monkeypatch.setattr(limits, "_FIRST_BACKOFF", 0.01)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    started: list[ScriptedServer] = []

    def start(script: Script = lambda question, earlier, body: Reply()) -> ScriptedServer:
        started.append(ScriptedServer(script))
        return started[-1]

    yield start
    for server in started:
        server.close()
