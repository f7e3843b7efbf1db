"""Old office files among the papers: LibreOffice, where it is installed, converts each once below the build folder.

A copy is keyed by the file's content; ``build/converted`` can be deleted at any time.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from schemas.errors import UnreadableDocument
from schemas.identity import file_sha256

FORMATS = {".doc": "docx", ".wps": "docx", ".rtf": "docx", ".odt": "docx", ".ods": "xlsx", ".xlsb": "xlsx"}
"""The format that a file is converted to, by its suffix; .xls is read as it is."""
_FILTERS = {
    b"\xd0\xcf\x11\xe0": {"docx": "MS Word 97", "xlsx": "MS Excel 97"},
    b"{\\rtf": {"docx": "Rich Text Format"},
}
"""How a file of an old format is opened, by its first bytes and what it becomes: LibreOffice would take a damaged one
for plain text, and its bytes for questions."""
HOME = "converted"
"""Folder of the copies, below the build folder."""
TIMEOUT = 120.0
"""Seconds that a conversion may take: papers take 2 to 10."""
LARGEST = 50_000_000
"""Bytes of a file that is converted; papers have up to 5 MB."""


def converted(path: Path, build: Path) -> Path:
    """Return a copy of an old office file that can be read; the file itself where it is none, or without LibreOffice.

    Raises:
        UnreadableDocument: ``broken``, ``too_large``, ``timeout``.
    """
    kind = FORMATS.get(path.suffix.lower())
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if kind is None or office is None or not path.is_file() or not path.stat().st_size:
        return path
    if path.stat().st_size > LARGEST:
        raise UnreadableDocument(
            "too_large", f"more than {LARGEST / 1e6:.0f} MB: save it as {kind.upper()} or PDF"
        )
    home = build / HOME
    copy = home / f"{file_sha256(path)}.{kind}"
    if not copy.is_file():
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home, prefix=".part-", ignore_cleanup_errors=True) as scratch:
            source = Path(scratch) / f"paper{path.suffix.lower()}"
            shutil.copyfile(path, source)
            _convert(office, source, kind)
            source.with_suffix(f".{kind}").replace(copy)
    return copy


def is_copy(path: Path) -> bool:
    """Return whether a file is a copy that was made here: its size is not that of the paper."""
    return path.parent.name == HOME and re.fullmatch(r"[0-9a-f]{64}", path.stem) is not None


def _convert(office: str, source: Path, kind: str) -> None:
    """Convert a file in its folder, with a profile of its own: no setting or macro of the user is in force."""
    profile = (source.parent / "profile").as_uri()
    head = source.open("rb").read(4096)
    opened = next((known.get(kind) for magic, known in _FILTERS.items() if head.startswith(magic)), None)
    if opened is None and not head.startswith(b"PK") and b"\0" in head:
        raise UnreadableDocument("broken", f"no {source.suffix} file: its content is something else")
    command = [office, f"-env:UserInstallation={profile}", "--headless", "--norestore", "--convert-to", kind]
    command += [f"--infilter={opened}"] if opened else []
    process = subprocess.Popen(  # noqa: S603 - the program the user has on the path, options of ours
        [*command, "--outdir", str(source.parent), str(source)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        raise UnreadableDocument(
            "timeout", f"LibreOffice took more than {TIMEOUT:.0f} s to convert it"
        ) from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # soffice starts a process that does the work
            process.wait()
    if process.returncode or not source.with_suffix(f".{kind}").is_file():
        raise UnreadableDocument("broken", f"LibreOffice cannot convert it: save it as {kind.upper()} or PDF")
