"""A Ray cluster of several nodes on this machine, for tests: its own port, token and folder; no dashboard."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

MISSING = None if find_spec("ray") else "ray is not installed (pip install -e '.[ray]')"
HERE = Path(__file__).parent
_TOKEN = secrets.token_hex(32)  # of all clusters of a test session: Ray reads it once a process


class RayCluster:
    """Nodes of one CPU each, the first of them the head; each is a process group that can be killed."""

    def __init__(self, folder: Path, gpus: int = 0) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.folder, self.gpus = folder, gpus
        self.environment = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": _TOKEN,
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": str(HERE),
        }
        self.nodes: list[subprocess.Popen[bytes]] = []

    def add(self) -> None:
        """Start a node and wait until it stands."""
        head = [f"--address={self.address}"]
        if not self.nodes:
            head = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        size = ["--num-cpus=1", f"--num-gpus={self.gpus}", "--object-store-memory=100000000"]
        program = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block"]
        with (self.folder / f"node-{len(self.nodes)}.log").open("wb") as log:
            node = subprocess.Popen(
                [*program, *head, *size, "--node-ip-address=127.0.0.1", "--disable-usage-stats"],
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.nodes.append(node)
        deadline = time.monotonic() + 60
        while b"Ray runtime started" not in Path(log.name).read_bytes():
            assert node.poll() is None, Path(log.name).read_text()
            assert time.monotonic() < deadline, Path(log.name).read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        """Kill whatever was started."""
        for node in reversed(self.nodes):
            with suppress(ProcessLookupError):
                node.send_signal(signal.SIGTERM)
        for node in reversed(self.nodes):
            with suppress(subprocess.TimeoutExpired):
                node.wait(15)
            with suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
            node.wait()


@contextmanager
def ray_cluster(nodes: int, gpus: int = 0) -> Iterator[RayCluster]:
    """A cluster of so many nodes; its folder is short, since sockets in it may have 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    cluster = RayCluster(folder, gpus)
    try:
        for _ in range(nodes):
            cluster.add()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
