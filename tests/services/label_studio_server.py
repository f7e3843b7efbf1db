"""A real Label Studio for tests: installed once, migrated once, copied and started for each session."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from build_dataset.annotation.label_studio.server import HOST, Account, Installation, create_accounts

ROOT = Path(__file__).resolve().parents[2]
ADMIN = Account("admin@example.org", "admin-password", "a" * 40, admin=True)
ZHANG = Account("zhang@example.org", "zhang-password", "b" * 40)
LI = Account("li@example.org", "li-password", "c" * 40)
WANG = Account("wang@example.org", "wang-password", "d" * 40)
ACCOUNTS = (ADMIN, ZHANG, LI, WANG)


_RUNNING: dict[Path, subprocess.Popen[bytes]] = {}  # by the folder of their data


class Server(NamedTuple):
    """A server that runs in the background."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


def launch_server(installation: Installation, home: Path, port: int, *, timeout: float = 120.0) -> Server:
    """Start a server and wait until it answers (3 to 5 s on an existing database)."""
    with (home / "server.log").open("ab") as log:
        env, streams = installation.environment(home), {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        process = subprocess.Popen(installation.command(port), env=env, start_new_session=True, **streams)
    _RUNNING[home], server = process, Server(process.pid, port)
    deadline = time.monotonic() + timeout
    while not _answers(server.url):
        assert process.poll() is None, (home / "server.log").read_text(errors="replace")[-2000:]
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return server


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2.0).is_success
    except httpx.HTTPError:
        return False


def stop_server(home: Path) -> None:
    """Stop the server of a folder, if one runs."""
    if (process := _RUNNING.pop(home, None)) is not None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class LabelStudioServer:
    """A server that runs, and what an expert's browser would ask of it."""

    url: str
    home: Path

    def as_expert(self, account: Account) -> Expert:
        return Expert(httpx.Client(base_url=self.url, headers={"Authorization": f"Token {account.token}"}))


@dataclass(frozen=True)
class Expert:
    """An expert at work, with the requests that the labelling screen makes."""

    http: httpx.Client

    def next_task(self, project: int) -> dict[str, Any] | None:
        reply = self.http.get(f"/api/projects/{project}/next")
        return reply.json() if reply.status_code == 200 else None

    def submit(self, task: int, result: list[dict[str, Any]], *, skip: bool = False) -> int:
        body = {"result": result, "was_cancelled": skip}
        return self._ok(self.http.post(f"/api/tasks/{task}/annotations/", json=body)).json()["id"]

    def change(self, annotation: int, result: list[dict[str, Any]]) -> None:
        self._ok(self.http.patch(f"/api/annotations/{annotation}/", json={"result": result}))

    def delete(self, annotation: int) -> None:
        self._ok(self.http.delete(f"/api/annotations/{annotation}/"))

    def delete_task(self, task: int) -> None:
        self._ok(self.http.delete(f"/api/tasks/{task}/"))

    def delete_project(self, project: int) -> None:
        self._ok(self.http.delete(f"/api/projects/{project}/"))

    @staticmethod
    def _ok(reply: httpx.Response) -> httpx.Response:
        reply.raise_for_status()
        return reply


@pytest.fixture(scope="session")
def label_studio_template() -> tuple[Installation, Path]:
    """An installation, and the data folder of a server with its accounts, made once and kept for later sessions.

    ``BUILD_DATASET_LABEL_STUDIO`` names a virtual environment with another release of Label Studio.
    """
    other = os.environ.get("BUILD_DATASET_LABEL_STUDIO")
    installation = Installation(Path(other) if other else ROOT / ".venv-label-studio")
    if not other and not installation.ready():
        installation.install()
    package = files("build_dataset.annotation.label_studio")
    recipe = (package / "requirements.txt").read_bytes() + (package / "_accounts.py").read_bytes()
    name = hashlib.sha256(recipe + repr((ACCOUNTS, other)).encode()).hexdigest()[:12]
    template = ROOT / ".label-studio" / "templates" / name
    if not template.exists():
        making = template.with_name(f".{name}.new")
        shutil.rmtree(making, ignore_errors=True)
        create_accounts(installation, making, ACCOUNTS)
        making.rename(template)
    return installation, template


@pytest.fixture(scope="session")
def label_studio(
    label_studio_template: tuple[Installation, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabelStudioServer]:
    """A server on a free port of this machine."""
    installation, template = label_studio_template
    home = tmp_path_factory.mktemp("label-studio") / "home"
    shutil.copytree(template, home)
    server = launch_server(installation, home, free_port())
    yield LabelStudioServer(server.url, home)
    stop_server(home)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
