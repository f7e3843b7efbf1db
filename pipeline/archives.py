"""Papers inside other files: members of ZIP archives, and old office files that LibreOffice converts.

Each is made once below the build folder, keyed by the content, and appears whole or not at all. Members lie there under
numbers: no file system sees their names. ``build/unpacked`` and ``build/converted`` can be deleted at any time.
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from build_dataset.schemas.errors import UnreadableDocument, UserError, refused_as
from build_dataset.schemas.identity import file_sha256, is_ignored

MEMBERS = 20_000
SIZE = 8_000_000_000  # Bytes that an archive may unpack to: about a minute of work
RATIO = 200  # Largest ratio of unpacked to packed size, above ``SMALL``: JSON and CSV reach 30, bombs 1,000
SMALL = 100_000_000
_ENTRY = 1000  # Largest average size in bytes of an entry of the directory, which is read whole into memory
_LEFTOVER = 3600  # Seconds after which what a killed process left is removed
_BY_HAND = "unpack what you need of it into this folder"
_RULES = "1"  # Version in the name of a copy; raise it when the choice of members or their names change
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_SAFE_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")  # .pdf, .docx
_EXPANSION = 4
"""Factor on ``max_file_mb`` for the unpacked contents of a DOCX or XLSX; their XML is about ten times the archive."""
FORMATS = {".doc": "docx", ".wps": "docx", ".rtf": "docx", ".odt": "docx", ".ods": "xlsx", ".xlsb": "xlsx"}
"""The format that a file is converted to, by its suffix; .xls is read as it is."""
_FILTERS = {b"\xd0\xcf\x11\xe0": {"docx": "MS Word 97", "xlsx": "MS Excel 97"}, b"{\\rtf": {"docx": "Rich Text Format"}}
"""Filters that open old formats, by first bytes and new format: LibreOffice would read a damaged file as plain text."""
HOME = "converted"  # Folder of the copies, below the build folder
TIMEOUT = 120.0  # Seconds that a conversion may take: papers take 2 to 10
LARGEST = 50_000_000  # Bytes of a file that is converted; papers have up to 5 MB


def check_archive(path: Path, max_file_mb: int) -> None:
    """Refuse a DOCX or XLSX that is ``broken``, ``encrypted`` or, unpacked, ``too_large``: ``UnreadableDocument``."""
    with _opened(path) as archive:
        infos = archive.infolist()
    if any(info.flag_bits & 1 for info in infos):
        raise UnreadableDocument("encrypted", "needs a password to be opened; save it without one")
    size = sum(info.file_size for info in infos)
    if size > _EXPANSION * max_file_mb * 1_000_000:
        raise UnreadableDocument("too_large", f"unpacks to {size / 1e6:.0f} MB")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An archive and what was taken from it."""

    members: dict[str, Path]  # Copies by name, with forward slashes; no name is empty or leads outside
    refused: tuple[str, str] | None  # Reason and sentence where it, or a part of it, was not unpacked


def is_archive(path: Path) -> bool:
    """Return whether a file of the raw folder is one whose members are read."""
    return path.suffix.lower() == ".zip"


def locate(raw: Path, build: Path, document: str) -> Path:
    """The file of a document: in the raw folder, the copy of an archive's member, or a converted copy; it may be gone.

    ``UnreadableDocument``: it is an archive, which was not unpacked or not wholly.
    """
    path = raw / document
    for archive in path.parents:
        if is_archive(archive) and archive.is_file():
            member = unpack(archive, build).members.get(path.relative_to(archive).as_posix(), path)
            return convert_office_file(member, build)
    if is_archive(path) and path.is_file() and (refused := unpack(path, build).refused):
        raise UnreadableDocument(*refused)
    return convert_office_file(path, build)


def unpack(archive: Path, build: Path) -> Unpacked:
    """The members of an archive, unpacked now where no whole copy is there yet.

    ``UserError``: there is no room, or the build folder cannot be written; ``OSError``: the archive cannot be opened.
    """
    about = archive.stat()
    unpacked = _unpack(archive, build, about.st_mtime_ns, about.st_size)
    if all(path.exists() for path in [*unpacked.members.values()][:1]):
        return unpacked
    _unpack.cache_clear()  # the copy was deleted
    return _unpack(archive, build, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=64)
def _unpack(archive: Path, build: Path, stamp: int, size: int) -> Unpacked:  # noqa: ARG001 -- parts of the key
    home = build / "unpacked" / f"{file_sha256(archive)}-{_RULES}"
    if copy := _read(home):
        return copy
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        for leftover in home.parent.glob(".part-*"):
            if leftover.stat().st_mtime < time.time() - _LEFTOVER:
                shutil.rmtree(leftover, ignore_errors=True)
        with TemporaryDirectory(dir=home.parent, prefix=".part-", ignore_cleanup_errors=True) as scratch:
            whole = Path(scratch) / "whole"
            whole.mkdir()
            _write(archive, whole)
            if not _read(home):
                shutil.rmtree(home, ignore_errors=True)
                whole.replace(home)
    except OSError as error:
        if not _read(home):  # else another process was faster
            raise UserError(f"{archive} cannot be unpacked into {home.parent}: {error.strerror or error}") from None
    copy = _read(home)
    assert copy is not None, "it was put there"
    return copy


def _read(home: Path) -> Unpacked | None:
    """A copy as its index describes it; None where there is none, or files are missing."""
    try:
        index = json.loads((home / "index.json").read_bytes())
    except (OSError, ValueError):
        return None
    members = {name: home / file for name, file in index["members"].items()}
    refused = tuple(index["refused"]) if index["refused"] else None
    return Unpacked(members, refused) if all(path.is_file() for path in members.values()) else None


def _write(archive: Path, folder: Path) -> None:
    """Unpack the members that can be read, and an index of them and of what was left out."""
    members: dict[str, str] = {}
    left: list[tuple[str, UnreadableDocument]] = []
    refused: tuple[str, str] | None = None
    try:
        with _opened(archive) as container:
            infos = _checked(container, archive.stat().st_size)
            for number, (info, name) in enumerate(zip(infos, _names(infos), strict=True)):
                suffix = PurePosixPath(name).suffix.lower()
                file = f"{number:05d}{suffix if _SAFE_SUFFIX.fullmatch(suffix) else ''}"
                try:
                    _copy(container, info, folder / file)
                    members[name] = file
                except UnreadableDocument as error:
                    (folder / file).unlink(missing_ok=True)
                    left.append((name, error))
    except UnreadableDocument as error:
        refused = (error.reason, error.detail)
    if left:
        name, first = left[0]
        refused = (first.reason, f"{len(left)} of {len(infos)} members were not unpacked: {name}: {first.detail}")
    elif not members and not refused:
        refused = ("empty_file", "there is no paper in the archive")
    index = {"members": members, "refused": refused}
    (folder / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), encoding="utf-8")


def _opened(path: Path) -> zipfile.ZipFile:
    """An archive whose directory, as its end tells, is small enough to be read whole."""
    with refused_as("broken", "no ZIP archive, or one that is cut short or damaged", _DAMAGE):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 66_000))
            end = file.read()
        at, wide = end.rfind(b"PK\5\6"), end.rfind(b"PK\6\6")  # ZIP64 tells it in another place
        size = struct.unpack_from("<L", end, at + 12)[0] if at >= 0 else 0
        size = struct.unpack_from("<Q", end, wide + 40)[0] if wide >= 0 else size
        if size <= MEMBERS * _ENTRY:
            return zipfile.ZipFile(path)
    raise UnreadableDocument("too_large", f"a directory of {size / 1e6:,.0f} MB: {_BY_HAND}")


def _checked(container: zipfile.ZipFile, size: int) -> list[zipfile.ZipInfo]:
    """Return the files of an archive that may be papers, unless there are too many or they unpack to too much."""
    infos = [info for info in container.infolist() if not (info.is_dir() or is_ignored("/".join(_parts(info))))]
    unpacked = sum(info.file_size for info in infos)
    if len(infos) > MEMBERS:
        raise UnreadableDocument("too_large", f"{len(infos):,} files, more than {MEMBERS:,}: {_BY_HAND}")
    if unpacked > SIZE or unpacked > max(SMALL, RATIO * size):
        raise UnreadableDocument("too_large", f"unpacks to {unpacked / 1e6:,.0f} MB: {_BY_HAND}")
    return infos


def _names(infos: Sequence[zipfile.ZipInfo]) -> list[str]:
    """A name for each, which no other has: an archive can hold several files of one name."""
    names: dict[str, None] = {}
    for info in infos:
        name = PurePosixPath(*_parts(info))
        others = (name.with_name(f"{name.stem} ({number}){name.suffix}") for number in count(2))
        names[next(candidate for candidate in map(str, chain([name], others)) if candidate not in names)] = None
    return list(names)


def _parts(info: zipfile.ZipInfo) -> list[str]:
    """The folders and the name of a member: nothing in them leads anywhere or hides what is shown."""
    names = _UNPRINTABLE.sub("_", _decoded(info)).replace("\\", "/").split("/")
    parts = ["__" if part.strip() == ".." else part[-150:] for part in names if part.strip() not in ("", ".")]
    return parts[-32:] or ["_"]  # folders deep enough for any archive of papers


def _decoded(info: zipfile.ZipInfo) -> str:
    """A member's name: without a mark it is in UTF-8 (macOS, Linux) or in the code page of a Chinese Windows."""
    name = info.orig_filename
    if info.flag_bits & 0x800:
        return name
    for encoding in ("utf-8", "gb18030"):
        with suppress(UnicodeError):
            return name.encode("cp437").decode(encoding)
    return name


def _copy(container: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    """Write a member, unless it is encrypted, damaged or compressed in a way that few programs know."""
    if info.flag_bits & 1:
        raise UnreadableDocument("encrypted", "needs a password to be opened; pack it without one")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableDocument("unknown_format", f"of compression {info.compress_type}: {_BY_HAND}")
    with path.open("wb") as copy:
        copy.writelines(_blocks(container, info))


def _blocks(container: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Return a member's content, at most as many bytes as the directory states."""
    with refused_as("broken", "cut short or damaged", _DAMAGE), container.open(info) as member:
        yield from iter(lambda: member.read(1 << 20), b"")


def convert_office_file(path: Path, build: Path) -> Path:
    """Return a copy of an old office file that can be read; the file itself where it is none, or without LibreOffice.

    ``UnreadableDocument``: ``broken``, ``too_large``, ``timeout``.
    """
    kind = FORMATS.get(path.suffix.lower())
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if kind is None or office is None or not path.is_file() or not path.stat().st_size:
        return path
    if path.stat().st_size > LARGEST:
        raise UnreadableDocument("too_large", f"more than {LARGEST / 1e6:.0f} MB: save it as {kind.upper()} or PDF")
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
        raise UnreadableDocument("timeout", f"LibreOffice took more than {TIMEOUT:.0f} s to convert it") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # soffice starts a process that does the work
            process.wait()
    if process.returncode or not source.with_suffix(f".{kind}").is_file():
        raise UnreadableDocument("broken", f"LibreOffice cannot convert it: save it as {kind.upper()} or PDF")
