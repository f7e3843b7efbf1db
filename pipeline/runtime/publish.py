"""The build folder: its lock, results published in one step, and the ledger of runs.

A result goes into a temporary folder, the manifest last; then the folder is renamed. A manifest describes a result
and is the same for the same result; facts that differ from run to run are in the ledger ``build/runs.jsonl``.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
from filelock import FileLock, Timeout
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import file_sha256, sha256

MANIFEST = "manifest.json"
LEDGER = "runs.jsonl"
_KEYS = {"stage", "fingerprint", "complete", "counts", "reasons", "facts", "outputs"}  # of every manifest
_ALWAYS = {"rejects.parquet", "review.parquet"}  # the tables that every stage writes
_ROW_GROUP = 20_000  # questions; about 8 MB of text, so that readers can skip by statistics
_GLANCES, _BETWEEN = 10, 0.05  # number of attempts to read the holder's process id, and seconds between them


@contextmanager
def build_lock(build: Path) -> Iterator[None]:
    """Hold the build folder, or raise a ``UserError``; the system frees it when the process dies."""
    holder = build / ".lock.pid"
    lock = FileLock(build / ".lock")
    try:
        build.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)  # refused at once: runs take hours
        holder.write_text(str(os.getpid()))
    except Timeout:
        process = ""  # its id is written a moment after the lock is taken
        for _ in range(_GLANCES):
            with suppress(OSError):
                process = holder.read_text()
            if process:
                break
            time.sleep(_BETWEEN)
        raise UserError(
            f"another build-dataset (process {process or 'unknown'}) is writing {build}: wait for it to finish"
        ) from None
    except OSError as error:
        lock.release()
        raise UserError(f"cannot write {build}: {error.strerror}: set dataset.build elsewhere") from None
    try:
        yield
    finally:
        holder.unlink(missing_ok=True)  # before the lock is free: the next holder writes its own
        lock.release()


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write Parquet that every reader opens: zstd, statistics, no view types."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())  # no view types
    with path.open("wb") as stream:  # Arrow's own files give no reason where closing them fails (network)
        pq.write_table(table, stream, compression="zstd", row_group_size=_ROW_GROUP, write_page_index=True)


def read_table(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table of the build folder; a ``UserError`` where it is damaged."""
    try:
        return pl.read_parquet(path, columns=columns, glob=False)  # "papers [2024]" is no pattern
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]  # polars adds its query plan
        raise UserError(f"{path} cannot be read ({reason}): delete it and run the stage again") from None


def find_table(build: Path, name: str, columns: list[str] | None = None) -> pl.DataFrame | None:
    """Return the table ``stage/name`` of a build folder; None if it was not made."""
    path = build / f"{name}.parquet"
    return read_table(path, columns) if path.exists() else None


def built(build: Path, name: str) -> pl.DataFrame:
    """Return a table of the build folder; a ``UserError`` where it was not made."""
    if (table := find_table(build, name)) is None:
        raise UserError(f"{build / name}.parquet is not there: run `build-dataset run` first")
    return table


def find_rows(build: Path, name: str, wanted: pl.Expr) -> list[dict[str, Any]]:
    """Return the rows of a table that meet a condition; none if it was not made."""
    table = find_table(build, name)
    return [] if table is None else table.filter(wanted).to_dicts()


class Publication:
    """A stage's folder in the making, beside the final one, which is replaced in one step: readers see no mixture.

    A ``UserError`` says that a folder that no stage wrote stands in its place.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._temporary, self._old = _beside(folder)
        self.outputs: dict[str, dict[str, Any]] = {}
        """``sha256``, ``bytes`` and, of tables, ``rows`` of what was added so far, by name."""
        recover(folder)
        if os.path.lexists(folder) and not is_ours(folder):
            raise UserError(f"{folder} is in the way and no stage wrote it: move it away, or set dataset.build anew")
        self._temporary.mkdir(parents=True)

    def table(self, name: str, frame: pl.DataFrame) -> None:
        """Add ``name.parquet``."""
        path = self._temporary / f"{name}.parquet"
        write_table(frame, path)
        self._note(path, {"rows": frame.height})

    def file(self, name: str, data: bytes) -> None:
        """Add another file by its path inside the folder, with forward slashes."""
        path = self._temporary / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self._note(path, {})

    def files(self, content: Mapping[str, bytes]) -> None:
        """Add other files by name, in the order of their names."""
        for name, data in sorted(content.items()):
            self.file(name, data)

    def commit(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest, put the folder in its place, and return the manifest as it is read there."""
        write_json(self._temporary / MANIFEST, sealed({**manifest, "outputs": dict(sorted(self.outputs.items()))}))
        if self.folder.exists():  # two renames; ``recover`` finishes them
            self.folder.rename(self._old)
        self._temporary.rename(self.folder)
        shutil.rmtree(self._old, ignore_errors=True)  # readers may hold it on Windows
        return dict(json.loads((self.folder / MANIFEST).read_text(encoding="utf-8")))

    def _note(self, path: Path, more: dict[str, Any]) -> None:
        with path.open("r+b") as stream:
            os.fsync(stream.fileno())  # a manifest that outlives a power cut must not name files that do not
        name = path.relative_to(self._temporary).as_posix()
        self.outputs[name] = {"sha256": file_sha256(path), "bytes": path.stat().st_size, **more}


def recover(folder: Path) -> None:
    """Finish, or undo, a ``commit`` that was killed between its two renames, and clear what it left."""
    for leftover in _beside(folder):
        if not folder.exists() and intact_manifest(leftover):  # the new one comes first
            leftover.rename(folder)
        shutil.rmtree(leftover, ignore_errors=True)


def withdraw(folder: Path) -> None:
    """Remove the result of a stage that is off now; its item store stays."""
    if is_ours(folder):
        shutil.rmtree(folder)


def is_ours(folder: Path) -> bool:
    """Return whether a folder is empty or a stage's: with its manifest or, where that was damaged, its two tables."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or names >= _ALWAYS or read_manifest(folder) is not None


def _beside(folder: Path) -> tuple[Path, Path]:
    """Return the temporary folders of the new result and of the old one during a swap."""
    return folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")


def write_json(path: Path, content: Any) -> None:
    """Write JSON durably: to a temporary file, flushed to disk, then renamed."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(content, stream, ensure_ascii=False, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with a hash of itself, which reveals later edits."""
    return {**manifest, "seal": _seal(manifest)}


def _seal(manifest: Mapping[str, Any]) -> str:
    content = {key: value for key, value in manifest.items() if key != "seal"}
    return sha256(json.dumps(content, ensure_ascii=True, sort_keys=True, default=str))[:16]


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a stage's folder; None when there is none, or it is not as a stage wrote it."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not content.keys() >= _KEYS:
        return None
    return content if content.get("seal") == _seal(content) else None  # somebody edited it


def intact_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a stage's folder where all files that it names exist with their sizes."""
    manifest = read_manifest(folder)
    outputs = manifest["outputs"].items() if manifest else ()
    sizes = ((folder / name, entry["bytes"]) for name, entry in outputs)
    return manifest if all(path.is_file() and path.stat().st_size == size for path, size in sizes) else None


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))
class LedgerEntry:
    """A run of a stage."""

    stage: str
    started: str  # UTC, ISO 8601
    seconds: float
    outcome: str  # `done`, `incomplete`, `failed`
    reused: int = 0  # slow or paid items that were already in the store
    added: int = 0  # slow or paid items done by this run


_ENTRY = TypeAdapter(LedgerEntry)


def append_run(build: Path, entry: LedgerEntry) -> None:
    """Add a line; one that a killed process left half-written stays apart from it."""
    build.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(entry), ensure_ascii=False) + "\n"
    with (build / LEDGER).open("ab+") as stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - 1, 0))
        torn = stream.read(1) not in (b"", b"\n")  # killed in the middle of a line
        stream.write(b"\n" * torn + line.encode())


def last_runs(build: Path) -> dict[str, LedgerEntry]:
    """The newest entry of each stage; broken lines are passed over."""
    entries: dict[str, LedgerEntry] = {}
    path = build / LEDGER
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ()
    for line in lines:
        with suppress(ValidationError):
            entry = _ENTRY.validate_json(line)
            entries[entry.stage] = entry
    return entries
