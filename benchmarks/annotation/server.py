"""A scripted OpenAI-compatible server in a process of its own, as light as asyncio allows.

``python -m benchmarks.annotation.server PORT LATENCY_SECONDS`` answers every chat completion after the latency, the
same to each, and keeps connections open.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTENT = '{"疾病组":"11","临床科室":"13","医学学科":"1","能力维度":"5","难度":"2"}'


def reply() -> bytes:
    message = {"role": "assistant", "content": CONTENT}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 36, "total_tokens": 1536},
    }
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


class Server(asyncio.Protocol):
    """One connection: every request on it is answered in turn."""

    def __init__(self, latency: float) -> None:
        self.latency, self.buffer, self.answer = latency, bytearray(), reply()

    def connection_made(self, transport) -> None:
        """Keep where to answer."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each whole request after the latency."""
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.buffer[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            del self.buffer[: end + 4 + length]
            asyncio.get_running_loop().call_later(self.latency, self.send)

    def send(self) -> None:
        """Send one answer."""
        if not self.transport.is_closing():
            self.transport.write(self.answer)


@contextmanager
def running(port: int, latency: float) -> Iterator[str]:
    """The address of a server that runs until the block ends."""
    command = [sys.executable, "-m", "benchmarks.annotation.server", str(port), str(latency)]
    with subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2]) as process:
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait(url)
            yield url
        finally:
            process.terminate()


def _wait(url: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(url)


async def serve(port: int, latency: float) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Server(latency), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2])))
