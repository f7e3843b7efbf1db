"""Environments with the package in them, as users make them: outside the repository, with an empty home."""

import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(tempfile.gettempdir()) / "build-dataset-installed"


@dataclass(frozen=True)
class Installation:
    """An environment that holds the package, and an empty home."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        [found] = self.folder.glob("lib/python*/site-packages")
        return found

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def run(
        self, *command: str | Path, cwd: Path | None = None, timeout: float = 1800
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as a user of this environment does."""
        path = os.pathsep.join([str(self.programs), "/usr/local/bin", "/usr/bin", "/bin"])
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "LANG", "LC_", "SSL"))}
        kept |= {"PIP_CACHE_DIR": str(CACHE), "PIP_NO_COMPILE": "1"}  # downloaded once; compiled where it is used
        environment = {**kept, "PATH": path, "HOME": str(self.home), "COLUMNS": "200", "PYTHONUTF8": "1"}
        place = cwd or self.home
        return subprocess.run(
            [str(word) for word in command],
            cwd=place, env=environment, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def do(self, *command: str | Path, cwd: Path | None = None) -> str:
        """Run a command that must succeed and return what it printed."""
        done = self.run(*command, cwd=cwd)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout + done.stderr


def environment(folder: Path, python: str = sys.executable, over: Installation | None = None) -> Installation:
    """Make an environment; one ``over`` another sees what that has installed and adds only what it lacks."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = Installation(folder)
    made.home.mkdir()
    if over:
        (made.packages / "below.pth").write_text(f"{over.packages}\n")
    return made


def build(folder: Path) -> tuple[Path, Path]:
    """Return the sdist of the repository, and the wheel that is built from it."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run([*command, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    [tree] = (folder / "unpacked").iterdir()
    subprocess.run([*command, "--target", "wheel"], cwd=tree, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return sdist, wheel


def tables(folder: Path) -> dict[str, Path]:
    """Return the Parquet files of a build by their names."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.parquet"))}
