"""Starting one's own server: what goes wrong before Label Studio is even asked."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from build_dataset.annotation.label_studio import server
from build_dataset.annotation.label_studio.client import Studio
from build_dataset.annotation.label_studio.server import Installation
from build_dataset.schemas.errors import UserError


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


def test_credentials_are_readable_by_their_owner_alone(tmp_path):
    account = server.Account("a@example.org", admin=True)
    server._write(tmp_path / "home", [account])
    path = tmp_path / "home" / "credentials.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert server._read(tmp_path / "home") == [account]


def test_every_account_has_its_own_secrets():
    accounts = [server.Account("a@example.org") for _ in range(10)]
    assert len({account.password for account in accounts} | {account.token for account in accounts}) == 20


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


def test_something_else_at_the_address_is_told(tmp_path):
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", server.HOST]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as web:
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


def test_a_command_that_fails_is_told_with_the_last_thing_it_said():
    server._run([sys.executable, "-c", "pass"], "cannot")
    said = "import sys; print('out'); print('why', file=sys.stderr); sys.exit(3)"
    with pytest.raises(UserError, match=r"^cannot: why$"):
        server._run([sys.executable, "-c", said], "cannot")
    with pytest.raises(UserError, match=r"^cannot: out$"):
        server._run([sys.executable, "-c", "print('out'); raise SystemExit(1)"], "cannot")


def test_an_installation_is_made_anew_and_stamped_when_it_is_whole(tmp_path, monkeypatch):
    commands: list[list[str]] = []
    monkeypatch.setattr(server, "_run", lambda command, complaint, **more: commands.append(command))
    found = Installation(tmp_path)
    found.install()
    assert commands[0] == [sys.executable, "-m", "venv", "--clear", str(tmp_path)]
    assert commands[1][:3] == [str(tmp_path / "bin" / "python"), "-m", "pip"]
    assert found.ready()


@pytest.fixture
def made(installation, monkeypatch, tmp_path):
    """Commands on a folder; the accounts that they make are noted, and the server ends at once."""
    found = SimpleNamespace(home=tmp_path / "home", accounts=[])
    (installation.venv / "bin").mkdir(parents=True)
    program = installation.venv / "bin" / "label-studio"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    found.options = ["--venv", str(installation.venv), "--home", str(found.home)]
    monkeypatch.setattr(server, "create_accounts", lambda installation, home, accounts: found.accounts.extend(accounts))
    monkeypatch.setattr(server, "require_free", lambda port: None)
    found.run = lambda *words: CliRunner().invoke(server.app, [*words, *found.options])
    return found


def test_the_first_start_makes_an_administrator_and_later_ones_do_not(made):
    first = made.run("start")
    [admin] = made.accounts
    assert (admin.email, admin.admin, len(admin.token)) == ("admin@localhost.localdomain", True, 40)
    assert f"log in as {admin.email} with password {admin.password}" in first.output
    assert "http://127.0.0.1:8080" in first.output
    again = made.run("start", "--port", "8123")
    assert "http://127.0.0.1:8123" in again.output
    assert "log in as" not in again.output
    assert made.accounts == [admin]
    told = "stopped: start --no-browser --internal-host 127.0.0.1 --port 8123 --enable-legacy-api-token (see "
    assert told in str(again.exception), "a server that ends is told with what it said last"


def test_an_expert_gets_an_account_and_one_alone(made):
    assert isinstance(made.run("add-expert", "li@example.org").exception, UserError), "there is no server yet"
    made.run("start")
    assert "log in as li@example.org" in made.run("add-expert", "li@example.org").output
    assert [(account.email, account.admin) for account in made.accounts[1:]] == [("li@example.org", False)]
    for email in ("li@example.org", "li"):
        assert "has an account already" in str(made.run("add-expert", email).exception)
    assert len(server._read(made.home)) == 2


def test_credentials_that_cannot_be_read_are_told(made):
    made.home.mkdir()
    (made.home / "credentials.json").write_text("{")
    assert "cannot be read: restore it" in str(made.run("start").exception)


def test_a_server_that_is_not_installed_is_told(tmp_path):
    with pytest.raises(UserError, match=r"is not installed in .*: run `python -m build_dataset.annotation"):
        server._installed(tmp_path)


def test_a_mistake_of_the_user_is_one_line(monkeypatch, capsys):
    def app():
        raise UserError("wrong")

    monkeypatch.setattr(server, "app", app)
    with pytest.raises(SystemExit) as ended:
        server.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, "error: wrong\n")


def test_a_folder_is_found_here_or_above(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".here").mkdir()
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert server.nearest_folder(".here") == tmp_path / ".here"
    assert server.nearest_folder(".nowhere") == Path(".nowhere")
    monkeypatch.chdir(tmp_path)
    assert server.nearest_folder(".here") == Path(".here")
