"""A server for doctors elsewhere, as docs/remote.md sets it up: PostgreSQL, Label Studio, and nginx with TLS before it.

Plain processes on loopback with their data in temporary folders. The settings are those of the guide itself.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from build_dataset.annotation.label_studio.server import HOST, Installation
from tests.services.label_studio_server import ADMIN, ROOT, free_port

GUIDE = ROOT / "docs" / "remote.md"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))  # Debian keeps them out of PATH
POSTGRES = _BINARIES[-1].parent if _BINARIES else None
PASSWORD = "of-the-database"


def settings_of_guide(host: str, port: int) -> dict[str, str]:
    """The environment that the guide gives Label Studio, with this host and this port of PostgreSQL."""
    text = GUIDE.read_text(encoding="utf-8").replace("review.example.org", host)
    pairs = dict(re.findall(r"^ *([A-Z_]+)=(\S+)$", text, re.MULTILINE))
    return pairs | {
        "POSTGRE_PORT": str(port),
        "POSTGRE_PASSWORD": PASSWORD,
        "LABEL_STUDIO_USERNAME": ADMIN.email,
        "LABEL_STUDIO_PASSWORD": ADMIN.password,
        "LABEL_STUDIO_USER_TOKEN": ADMIN.token,
    }


@dataclass(frozen=True)
class RemoteInstallation(Installation):
    """An installation whose server is set up as in the guide."""

    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, home: Path) -> Mapping[str, str]:
        """Return the usual environment with the settings over it."""
        return {**super().environment(home), **self.settings}


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL that runs."""

    port: int
    pid: int

    def run(self, program: str, *arguments: str, user: str = "label_studio") -> str:
        """Run one of its programs; return what it prints."""
        assert POSTGRES
        where = ["-h", HOST, "-p", str(self.port), "-U", user]
        environment = {**os.environ, "PGPASSWORD": PASSWORD}
        command = [str(POSTGRES / program), *where, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self) -> None:
        """Make the empty database, as the guide does."""
        self.run("createdb", "--owner", "label_studio", "label_studio", user="postgres")


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL with the guide's user and its database; it refuses to run as root."""
    assert POSTGRES
    folder = Path(tempfile.mkdtemp(prefix="build-dataset-postgres-"))
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    (folder / "password").write_text(PASSWORD, encoding="utf-8")
    if as_user:
        for path in (folder, folder / "password"):
            shutil.chown(path, "postgres", "postgres")
    data, port = folder / "data", free_port()

    def control(*arguments: str) -> None:
        subprocess.run(
            [*as_user, str(POSTGRES / "pg_ctl"), "-D", str(data), "-w", *arguments],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    password = f"--pwfile={folder / 'password'}"
    control("init", "-o", f"--username=postgres {password} --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8")
    control("start", "-l", str(folder / "log"), "-o", f"-p {port} -k {folder} -c listen_addresses={HOST}")
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        found = Postgres(port, pid)
        create_user = f"CREATE ROLE label_studio LOGIN PASSWORD '{PASSWORD}'"
        found.run("psql", "-c", create_user, "postgres", user="postgres")
        found.create()
        yield found
    finally:
        control("stop", "-m", "immediate")
        shutil.rmtree(folder)


def make_certificates(folder: Path) -> Path:
    """Write an authority of our own, ``ca.pem``, and a certificate for localhost from it; return the authority."""
    commands = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=Ours"
        " -addext keyUsage=critical,keyCertSign,cRLSign -keyout ca.key -out ca.pem",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
        " -addext subjectAltName=DNS:localhost -keyout review.key -out review.csr",
        "x509 -req -in review.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy"
        " -out review.pem",
    )
    for command in commands:
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return folder / "ca.pem"


@contextmanager
def nginx(folder: Path, port: int, behind: int) -> Iterator[None]:
    """An nginx with the guide's server block on ``port``, before Label Studio at ``behind``."""
    assert NGINX
    [block] = re.findall(r"^( *)(server \{.*?^\1\})$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    server = block[1].replace("listen 443", f"listen {HOST}:{port}").replace("review.example.org", "localhost")
    server = server.replace("127.0.0.1:8080", f"{HOST}:{behind}").replace("/etc/ssl", str(folder))
    places = [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    user = "user root;" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {' '.join(places)}\n{server}\n}}\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(config)])
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)
