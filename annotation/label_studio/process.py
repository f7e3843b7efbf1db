"""Start and stop a Label Studio server that listens on this machine alone."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx

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
    _run(
        [str(installation.program("python")), str(files("annotation.label_studio") / "_accounts.py")],
        f"cannot set up Label Studio in {home}",
        input=json.dumps([asdict(account) for account in accounts]),
        env=installation.environment(home),
    )


def start(installation: Installation, home: Path, port: int, *, timeout: float = 120.0) -> Server:
    """Start a server in the background and wait until it answers (3 to 5 s on an existing database).

    Its data lie in ``home``, its log in ``server.log`` there. Where a port is busy, Label Studio itself would silently
    take the next one.

    Raises:
        UserError: the port is busy, or the server does not come up in ``timeout`` seconds.
    """
    if (present := running(home)) is not None:
        return present
    require_free(port)
    command = [str(installation.program("label-studio")), "start", "--no-browser", "--internal-host", HOST]
    command += ["--port", str(port), "--enable-legacy-api-token"]
    with (home / _LOG).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 (our own words alone)
            command,
            env=installation.environment(home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(process.pid, port)
    (home / _RECORD).write_text(json.dumps(asdict(server)), encoding="utf-8")
    deadline = time.monotonic() + timeout
    while not _answers(server.url):
        if process.poll() is not None:
            said = _last_line((home / _LOG).read_text(encoding="utf-8", errors="replace"))
            raise UserError(f"Label Studio stopped while starting: {said} (see {home / _LOG})")
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
        server = Server(**json.loads((home / _RECORD).read_text(encoding="utf-8")))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return server if _is_label_studio(server.pid) else None


def _answers(url: str) -> bool:
    """Return whether a healthy Label Studio answers there."""
    try:
        return bool(httpx.get(f"{url}/health", timeout=2.0).json().get("status") == "UP")
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


def require_free(port: int) -> None:
    """Raise a ``UserError`` if something listens on that port of this machine."""
    if not is_free(port):
        raise UserError(f"port {port} is in use: stop what listens there, or choose another with --port")


def is_free(port: int) -> bool:
    """Return whether nothing listens on that port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _is_label_studio(pid: int) -> bool:
    """Return whether that process is a Label Studio: process ids are used again, and no other may be stopped."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    listing = subprocess.run(  # noqa: S603
        ["ps", "-p", str(pid), "-o", "stat=,command="],  # noqa: S607 (where ps lies differs between systems)
        capture_output=True,
        text=True,
        check=False,
    )
    return "label-studio" in listing.stdout and not listing.stdout.startswith("Z")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


_STAMP = ".installed"

_CLONE = (Path(__file__).resolve().parents[2] / "Makefile").is_file()
START = "make label-studio" if _CLONE else f"python -m {__package__}.server install (then start)"
"""Command that installs and starts Label Studio: of a clone, or of an installed package."""
STOP = "make label-studio-stop" if _CLONE else f"python -m {__package__}.server stop"
EXTRA = "pip install -e '.[review]'" if _CLONE else "pip install 'build-dataset[review]'"
"""Command that installs the client of Label Studio."""

_QUIET_SERVER = {
    "LABEL_STUDIO_COLLECT_ANALYTICS": "0",
    "LABEL_STUDIO_SENTRY_DSN": "",
    "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "0",
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "1",
    "DJANGO_DB": "sqlite",
}
"""No analytics, no crash reports, no version check, no sign-up without an invitation."""


@dataclass(frozen=True)
class Installation:
    """A virtual environment with Label Studio in it, or the place for one."""

    venv: Path

    def program(self, name: str) -> Path:
        """Return one of its programs: ``python`` or ``label-studio``."""
        return self.venv / "bin" / name

    def ready(self) -> bool:
        """Return whether it was completely installed from the present requirements."""
        stamp = self.venv / _STAMP
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == _requirements_hash()

    def install(self) -> None:
        """Create the environment and install Label Studio into it; a half-made one is made anew.

        Takes about 1 GB and 1.5 to 3 minutes, once.

        Raises:
            UserError: the environment cannot be made or a package cannot be had.
        """
        if self.ready():
            return
        _run([sys.executable, "-m", "venv", "--clear", str(self.venv)], f"cannot create {self.venv}")
        requirements = str(files("annotation.label_studio") / "requirements.txt")
        pip = [str(self.program("python")), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--requirement", requirements], "cannot install Label Studio")
        (self.venv / _STAMP).write_text(_requirements_hash(), encoding="utf-8")

    def environment(self, home: Path) -> Mapping[str, str]:
        """Environment variables for a server whose data lie in ``home``; settings of other servers are left out."""
        foreign = ("LABEL_STUDIO_", "DJANGO_", "PYTHON")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {**inherited, **_QUIET_SERVER, "LABEL_STUDIO_BASE_DATA_DIR": str(home.resolve())}


def _requirements_hash() -> str:
    requirements = (files("annotation.label_studio") / "requirements.txt").read_bytes()
    return hashlib.sha256(requirements).hexdigest()


def _run(command: list[str], complaint: str, **more: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)  # noqa: S603 (our own words)
    if done.returncode != 0:
        raise UserError(f"{complaint}: {_last_line(done.stderr or done.stdout)}")
