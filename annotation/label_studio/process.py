"""Start and stop a Label Studio server that listens on this machine alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

import httpx

from annotation.label_studio.installation import Installation
from schemas.errors import UserError

HOST = "127.0.0.1"
_RECORD = "server.json"
_LOG = "server.log"
_STOP_SECONDS = 10.0


@dataclass(frozen=True)
class Account:
    """Somebody who can log in."""

    email: str
    password: str
    token: str
    """For the API: 40 hex digits."""
    admin: bool = False


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"


def create_accounts(installation: Installation, home: Path, accounts: Iterable[Account]) -> None:
    """Create the database in ``home`` if it is not there (about 40 s), and the accounts that are missing.

    Raises:
        UserError: Label Studio cannot be set up there.
    """
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    done = subprocess.run(  # noqa: S603 (our own words alone)
        [str(installation.python), str(files("annotation.label_studio") / "_accounts.py")],
        input=json.dumps([asdict(account) for account in accounts]),
        env=installation.environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"cannot set up Label Studio in {home}: {_last_line(done.stderr)}")


def start(installation: Installation, home: Path, port: int, *, timeout: float = 120.0) -> Server:
    """Start a server in the background and wait until it answers (3 to 5 s on an existing database).

    Args:
        installation: where Label Studio is installed.
        home: folder of its data; its log goes to ``server.log`` there.
        port: to listen on. Label Studio itself would silently take the next one when it is busy.
        timeout: seconds to wait for it to answer.

    Raises:
        UserError: the port is busy, or the server does not come up.
    """
    present = running(home)
    if present is not None:
        return present
    if not is_free(port):
        raise UserError(f"port {port} is in use: stop what listens there, or choose another with --port")
    with (home / _LOG).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 (our own words alone)
            [
                str(installation.label_studio), "start", "--no-browser", "--internal-host", HOST,
                "--port", str(port), "--enable-legacy-api-token",
            ],
            env=installation.environment(home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    server = Server(process.pid, port)
    _write_record(home, server)
    deadline = time.monotonic() + timeout
    while not answers(server.url):
        if process.poll() is not None:
            raise UserError(
                f"Label Studio stopped while starting: {_last_line(_log(home))} (see {home / _LOG})"
            )
        if time.monotonic() > deadline:
            stop(home)
            raise UserError(f"Label Studio did not answer within {timeout:.0f} s: see {home / _LOG}")
        time.sleep(0.2)
    return server


def stop(home: Path) -> bool:
    """Stop the server of ``home``; whether there was one."""
    server = running(home)
    (home / _RECORD).unlink(missing_ok=True)
    if server is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while _is_label_studio(server.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        if _is_label_studio(server.pid):
            os.kill(server.pid, signal.SIGKILL)
    return True


def running(home: Path) -> Server | None:
    """The server of ``home`` that runs, if one does."""
    try:
        record = json.loads((home / _RECORD).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return Server(**record) if _is_label_studio(record["pid"]) else None


def answers(url: str) -> bool:
    """Whether a healthy Label Studio answers there."""
    try:
        return bool(httpx.get(f"{url}/health", timeout=2.0).json().get("status") == "UP")
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


def is_free(port: int) -> bool:
    """Whether nothing listens on that port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _is_label_studio(pid: int) -> bool:
    """Whether that process is a Label Studio: numbers of processes are used again, and no other may be stopped."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    listing = subprocess.run(  # noqa: S603
        ["ps", "-p", str(pid), "-o", "stat=,command="],  # noqa: S607 (where ps lies differs between systems)
        capture_output=True,
        text=True,
        check=False,
    )
    return "label-studio" in listing.stdout and not listing.stdout.startswith("Z")


def _write_record(home: Path, server: Server) -> None:
    (home / _RECORD).write_text(json.dumps(asdict(server)), encoding="utf-8")


def _log(home: Path) -> str:
    return (home / _LOG).read_text(encoding="utf-8", errors="replace")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
