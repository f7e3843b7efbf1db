"""Label Studio's own virtual environment: it needs an openai that ours cannot have."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from schemas.errors import UserError

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

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def label_studio(self) -> Path:
        """Its ``label-studio`` command."""
        return self.venv / "bin" / "label-studio"

    def ready(self) -> bool:
        """Whether it was completely installed from the present requirements."""
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
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--requirement", requirements], "cannot install Label Studio")
        (self.venv / _STAMP).write_text(_requirements_hash(), encoding="utf-8")

    def environment(self, home: Path) -> Mapping[str, str]:
        """Environment variables for a server whose data lie in ``home``; settings of other servers are left out."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LABEL_STUDIO_", "DJANGO_", "PYTHON"))
        }
        return {**inherited, **_QUIET_SERVER, "LABEL_STUDIO_BASE_DATA_DIR": str(home.resolve())}


def _requirements_hash() -> str:
    requirements = (files("annotation.label_studio") / "requirements.txt").read_bytes()
    return hashlib.sha256(requirements).hexdigest()


def _run(command: list[str], complaint: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own words alone)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise UserError(f"{complaint}: {lines[-1]}")
