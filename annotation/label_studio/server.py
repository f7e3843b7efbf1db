"""A Label Studio of one's own on this machine alone: ``python -m build_dataset.annotation.label_studio.server``.

It lives in its own virtual environment and keeps its data and its credentials in one folder. Secrets are written
to a file that only its owner can read, and are never arguments of a process.
"""

import contextlib
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError

HOST = "127.0.0.1"  # never reachable from another machine
_LOG = "server.log"  # in the folder of its data
_STAMP = ".installed"  # holds the hash of the requirements that were installed completely

_CLONE = (Path(__file__).resolve().parents[2] / "Makefile").is_file()  # or an installed package
START = "make label-studio" if _CLONE else "python -m build_dataset.annotation.label_studio.server install (then start)"
"""Command that installs and starts Label Studio: of a clone, or of an installed package."""
EXTRA = "pip install -e '.[review]'" if _CLONE else "pip install 'build-dataset[review]'"
"""Command that installs the client of Label Studio."""

_QUIET_SERVER = shipped_toml("build_dataset.annotation.label_studio", "quiet.toml")


@dataclass(frozen=True)
class Account:
    """Somebody who can log in."""

    email: str
    password: str = field(default_factory=partial(secrets.token_urlsafe, 12))
    token: str = field(default_factory=partial(secrets.token_hex, 20))  # for the API
    admin: bool = False


def require_free(port: int) -> None:
    """Raise a ``UserError`` if something listens on that port of this machine."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        raise UserError(f"port {port} is in use: stop what listens there, or choose another with --port") from None


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


@dataclass(frozen=True)
class Installation:
    """A virtual environment with Label Studio in it, or the place for one."""

    venv: Path

    def ready(self) -> bool:
        """Return whether it was completely installed from the present requirements."""
        stamp = self.venv / _STAMP
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == _requirements_hash()

    def install(self) -> None:
        """Create the environment and install Label Studio into it; a half-made one is made anew."""
        _run([sys.executable, "-m", "venv", "--clear", str(self.venv)], f"cannot create {self.venv}")
        requirements = str(files("build_dataset.annotation.label_studio") / "requirements.txt")
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]
        _run([str(self.venv / "bin" / "python"), *pip, requirements], "cannot install Label Studio")
        (self.venv / _STAMP).write_text(_requirements_hash(), encoding="utf-8")

    def command(self, port: int) -> list[str]:
        """Return the command that runs a server on that port; on a busy one, it would silently take the next."""
        options = f"--no-browser --internal-host {HOST} --port {port} --enable-legacy-api-token"
        return [str(self.venv / "bin" / "label-studio"), "start", *options.split()]

    def environment(self, home: Path) -> Mapping[str, str]:
        """Environment variables for a server whose data lie in ``home``; settings of other servers are left out."""
        foreign = ("LABEL_STUDIO_", "DJANGO_", "PYTHON")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {**inherited, **_QUIET_SERVER, "LABEL_STUDIO_BASE_DATA_DIR": str(home.resolve())}


def _requirements_hash() -> str:
    requirements = (files("build_dataset.annotation.label_studio") / "requirements.txt").read_bytes()
    return hashlib.sha256(requirements).hexdigest()


def _run(command: list[str], complaint: str, **more: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)  # noqa: S603 (our own words)
    if done.returncode != 0:
        raise UserError(f"{complaint}: {_last_line(done.stderr or done.stdout)}")


def create_accounts(installation: Installation, home: Path, accounts: Iterable[Account]) -> None:
    """Create the database in ``home`` if it is not there (about 40 s), and the accounts that are missing."""
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    script = str(files("build_dataset.annotation.label_studio") / "_accounts.py")
    command = [str(installation.venv / "bin" / "python"), script]
    secret = json.dumps([asdict(account) for account in accounts])
    _run(command, f"cannot set up Label Studio in {home}", input=secret, env=installation.environment(home))


app = typer.Typer(help="Install and start Label Studio for the experts' review.", no_args_is_help=True)

_CREDENTIALS = "credentials.json"  # accounts with passwords and tokens, mode 0600

Venv = Annotated[Path, typer.Option(help="Virtual environment of Label Studio.")]
Home = Annotated[Path, typer.Option(help="Folder of its data and credentials.")]
Port = Annotated[int, typer.Option(help="Port on 127.0.0.1.", min=1, max=65535)]


def nearest_folder(name: str) -> Path:
    """A folder here, in a folder above, or beside our own source, as where `make label-studio` was called."""
    places = (Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[2])
    path = next((place / name for place in places if (place / name).exists()), Path(name))
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.parent == Path.cwd() else path


_VENV = nearest_folder(".venv-label-studio")  # about 1 GB
_HOME = nearest_folder(".label-studio")  # the experts' work


@app.command()
def install(venv: Venv = _VENV) -> None:
    """Install Label Studio into its own virtual environment (about 1 GB, 2 to 3 minutes, once)."""
    installation = Installation(venv)
    if not installation.ready():
        typer.echo(f"installing Label Studio into {venv}: about 1 GB, 2 to 3 minutes")
        installation.install()
    typer.echo(f"Label Studio is installed in {venv}")


@app.command()
def start(venv: Venv = _VENV, home: Home = _HOME, port: Port = 8080) -> None:
    """Run the server until Ctrl-C; the first time, make the database and an administrator (40 s)."""
    installation, accounts = _installed(venv), _read(home)
    require_free(port)
    if not accounts:
        typer.echo("making the database: about 40 s")
        accounts = [Account("admin@localhost.localdomain", admin=True)]  # a name to log in with, no mailbox
        create_accounts(installation, home, accounts)
        _write(home, accounts)
        _print_login(accounts[0])
    typer.echo(f"accounts and API tokens: {home / _CREDENTIALS} (readable by you alone)")
    read = f"""python3 -c 'import json; print(json.load(open("{home / _CREDENTIALS}"))[0]["token"])'"""
    typer.echo(f"for the pipeline: export LABEL_STUDIO_API_KEY=$({read})")
    typer.echo(f"Label Studio runs at http://{HOST}:{port} until Ctrl-C here; what it says: {home / _LOG}")
    with (home / _LOG).open("ab") as log, contextlib.suppress(KeyboardInterrupt):
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
        env = installation.environment(home)
        subprocess.run(installation.command(port), env=env, check=False, **streams)  # noqa: S603 (our own words)
        last_line = _last_line((home / _LOG).read_text(encoding="utf-8", errors="replace"))
        raise UserError(f"Label Studio stopped: {last_line} (see {home / _LOG})")


@app.command("add-expert")
def add_expert(email: str, venv: Venv = _VENV, home: Home = _HOME) -> None:
    """Make an account for an expert and print its password once. Works while the server runs."""
    installation = _installed(venv)
    if not (accounts := _read(home)):
        raise UserError(f"no Label Studio in {home} yet: start it first")
    if "@" not in email or any(account.email == email for account in accounts):
        file = home / _CREDENTIALS
        raise UserError(f"{email} is not an e-mail address, or has an account already (see {file})")
    account = Account(email)
    create_accounts(installation, home, [account])
    _write(home, [*accounts, account])
    _print_login(account)


def main() -> None:
    """Run the command line; what a user can put right is said in one line."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


def _installed(venv: Path) -> Installation:
    if not (installation := Installation(venv)).ready():
        command = "python -m build_dataset.annotation.label_studio.server install"
        raise UserError(f"Label Studio is not installed in {venv}: run `{command}`")
    return installation


def _print_login(account: Account) -> None:
    typer.echo(f"log in as {account.email} with password {account.password}")


def _read(home: Path) -> list[Account]:
    try:
        return [Account(**item) for item in json.loads((home / _CREDENTIALS).read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError):
        raise UserError(f"{home / _CREDENTIALS} cannot be read: restore it, or delete {home} to begin anew") from None


def _write(home: Path, accounts: list[Account]) -> None:
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    path = home / _CREDENTIALS
    temporary = path.with_name(f".{path.name}.new")
    temporary.touch(0o600)
    temporary.write_text(json.dumps([asdict(account) for account in accounts], indent=2), encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
