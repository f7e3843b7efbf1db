"""``python -m annotation.label_studio.server``: a Label Studio of one's own, on this machine alone.

It lives in its own virtual environment and keeps its data and its credentials in one folder. Secrets are written
to a file that only its owner can read, and are never arguments of a process.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from filelock import FileLock

from annotation.label_studio import process
from annotation.label_studio.process import STOP, Account, Installation
from schemas.errors import UserError

app = typer.Typer(help="Install, start and stop Label Studio for the experts' review.", no_args_is_help=True)

_CREDENTIALS = "credentials.json"
_PREPARED = ".prepared"
"""Written when the database and its accounts are whole: making them can be interrupted."""
_ADMIN = "admin@localhost.localdomain"

Venv = Annotated[Path, typer.Option(help="Virtual environment of Label Studio.")]
Home = Annotated[Path, typer.Option(help="Folder of its data and credentials.")]
Port = Annotated[int, typer.Option(help="Port on 127.0.0.1.", min=1, max=65535)]


def _found(name: str) -> Path:
    """A folder here, in a folder above, or beside our own source, as where `make label-studio` was called."""
    places = (Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[2])
    found = next((place / name for place in places if (place / name).exists()), Path(name))
    return found.relative_to(Path.cwd()) if found.is_absolute() and found.parent == Path.cwd() else found


_VENV = _found(".venv-label-studio")
_HOME = _found(".label-studio")


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
    """Start the server in the background; the first time, make the database and an administrator (40 s)."""
    installation = _installed(venv)
    present = process.running(home)
    if present is not None:
        typer.echo(f"Label Studio already runs at {present.url}")
        return
    accounts = _read(home)
    first = not accounts
    if first:
        process.require_free(port)
        typer.echo("making the database: about 40 s")
        accounts = [_new_account(_ADMIN, admin=True)]
        _write(home, accounts)
    if not (home / _PREPARED).exists():
        process.create_accounts(installation, home, accounts)
        (home / _PREPARED).touch()
    server = process.start(installation, home, port)
    typer.echo(f"Label Studio runs at {server.url}; stop it with `{STOP}`")
    if first:
        _tell(accounts[0])
    typer.echo(f"accounts and API tokens: {home / _CREDENTIALS} (readable by you alone)")
    read = f"""python3 -c 'import json; print(json.load(open("{home / _CREDENTIALS}"))[0]["token"])'"""
    typer.echo(f"for the pipeline: export LABEL_STUDIO_API_KEY=$({read})")


@app.command()
def stop(home: Home = _HOME) -> None:
    """Stop the server."""
    typer.echo("stopped" if process.stop(home) else "Label Studio was not running")


@app.command()
def status(venv: Venv = _VENV, home: Home = _HOME) -> None:
    """Say whether it is installed and runs."""
    typer.echo(f"installed: {'yes' if Installation(venv).ready() else 'no'}")
    server = process.running(home)
    typer.echo(f"running: {server.url}" if server else "running: no")


@app.command("add-expert")
def add_expert(email: str, venv: Venv = _VENV, home: Home = _HOME) -> None:
    """Make an account for an expert and print its password once. Works while the server runs."""
    installation = _installed(venv)
    if not _read(home):
        raise UserError(f"no Label Studio in {home} yet: start it first")
    with FileLock(home / f"{_CREDENTIALS}.lock"):  # two experts may be added at once
        accounts = _read(home)
        if "@" not in email or any(account.email == email for account in accounts):
            file = home / _CREDENTIALS
            raise UserError(f"{email} is not an e-mail address, or has an account already (see {file})")
        account = _new_account(email, admin=False)
        process.create_accounts(installation, home, [account])
        _write(home, [*accounts, account])
    _tell(account)


def main() -> None:
    """Run the command line; what a user can put right is said in one line."""
    try:
        app()
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


def _installed(venv: Path) -> Installation:
    installation = Installation(venv)
    if not installation.ready():
        command = "python -m annotation.label_studio.server install"
        raise UserError(f"Label Studio is not installed in {venv}: run `{command}`")
    return installation


def _new_account(email: str, *, admin: bool) -> Account:
    return Account(email, password=secrets.token_urlsafe(12), token=secrets.token_hex(20), admin=admin)


def _tell(account: Account) -> None:
    typer.echo(f"log in as {account.email} with password {account.password}")


def _read(home: Path) -> list[Account]:
    try:
        return [Account(**item) for item in json.loads((home / _CREDENTIALS).read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError):
        raise UserError(
            f"{home / _CREDENTIALS} cannot be read: restore it, or delete {home} to begin anew"
        ) from None


def _write(home: Path, accounts: list[Account]) -> None:
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    path = home / _CREDENTIALS
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump([asdict(account) for account in accounts], stream, indent=2)
    temporary.replace(path)


if __name__ == "__main__":
    main()
