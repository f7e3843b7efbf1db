"""Starting one's own server: what goes wrong before Label Studio is even asked."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotation.label_studio import server
from annotation.label_studio.client import Studio
from annotation.label_studio.server import Installation
from schemas.errors import UserError


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    found = Installation(tmp_path / "venv")
    monkeypatch.setattr(Installation, "ready", lambda self: True)
    return found


@pytest.fixture
def busy_port():
    with socket.socket() as listener:
        listener.bind((server.HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_busy_port_is_told_before_anything_is_made(installation, tmp_path, busy_port):
    home = tmp_path / "home"
    with pytest.raises(UserError, match=f"port {busy_port} is in use"):
        server.start(installation.venv, home, busy_port)
    assert not home.exists()
    home.mkdir()
    with pytest.raises(UserError, match=f"port {busy_port} is in use"):
        server.launch_server(installation, home, busy_port)


def test_credentials_are_readable_by_their_owner_alone(tmp_path):
    account = server._new_account("a@example.org", admin=True)
    server._write(tmp_path / "home", [account])
    path = tmp_path / "home" / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert server._read(tmp_path / "home") == [account]


def test_every_account_has_its_own_secrets():
    accounts = [server._new_account("a@example.org", admin=False) for _ in range(10)]
    assert len({account.password for account in accounts} | {account.token for account in accounts}) == 20


def test_a_process_that_took_over_the_number_of_a_stopped_server_is_left_alone(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        (tmp_path / "server.json").write_text(f'{{"pid": {other.pid}, "port": 8080}}')
        try:
            assert server.running_server(tmp_path) is None
            assert not server.stop_server(tmp_path)
            assert other.poll() is None
        finally:
            other.kill()


def test_the_servers_environment_holds_no_settings_of_another_server(tmp_path, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_USERNAME", "somebody@example.org")
    monkeypatch.setenv("DJANGO_DB", "default")
    environment = Installation(tmp_path).environment(tmp_path / "home")
    assert "LABEL_STUDIO_USERNAME" not in environment
    assert environment["DJANGO_DB"] == "sqlite"
    assert environment["LABEL_STUDIO_COLLECT_ANALYTICS"] == "0"
    assert environment["PATH"] == os.environ["PATH"]


def test_a_half_made_installation_is_not_ready(tmp_path):
    (tmp_path / "bin").mkdir()
    assert not Installation(tmp_path).ready()
    (tmp_path / ".installed").write_text("another version")
    assert not Installation(tmp_path).ready()


def test_status_says_what_is_missing(tmp_path):
    options = ["status", "--venv", str(tmp_path / "venv"), "--home", str(tmp_path / "home")]
    result = CliRunner().invoke(server.app, options)
    assert result.output == "installed: no\nrunning: no\n"


def test_something_else_at_the_address_is_told(tmp_path):
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", server.HOST]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as web:
        port = web.stdout.readline().split(" port ")[1].split()[0]
        try:
            with pytest.raises(UserError, match=r"is not Label Studio: set review\.url"):
                Studio(f"http://{server.HOST}:{port}", "t" * 40, key_env="KEY", timeout=5)
        finally:
            web.kill()


@pytest.mark.parametrize(("token", "complaint"), [("", "is not set"), ("令牌", "is not an API token")])
def test_a_token_that_cannot_be_one_is_told_before_the_server_is_asked(monkeypatch, token, complaint):
    monkeypatch.setenv("KEY", token)
    with pytest.raises(UserError, match=f"KEY {complaint}"):
        Studio.connect("http://127.0.0.1:1", key_env="KEY", timeout=5)
