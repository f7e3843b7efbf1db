"""Identities of questions: by origin and by content."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_INVISIBLE = re.compile("[\u200b-\u200f\ufeff]+")  # they do not count, nor do spaces


def sha256(*parts: str | bytes) -> str:
    """Hex SHA-256 of the parts, each preceded by its length so that their borders count."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    return hashlib.sha256(b"".join([b"%d:%b" % (len(data), data) for data in encoded])).hexdigest()


def stable_random(*parts: str) -> float:
    """Return a number from 0 up to 1, drawn by a hash: the same for the same parts, whatever else is drawn."""
    return int(sha256(*parts)[:8], 16) / 2**32


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_hidden(name: str) -> bool:
    """Return whether a file is not meant for people: ``.DS_Store``, ``~$paper.docx`` that an editor has open."""
    return name.lower().startswith((".", "~$", "__macosx"))


def is_note(name: str) -> bool:
    """Return whether a file says something of the folder: ``README.txt``, the contents of a QTI package."""
    return name.lower() in ("readme", "readme.md", "readme.txt", "imsmanifest.xml")


def is_ignored(path: str) -> bool:
    """Return whether a file beside papers is none: hidden, settings (``labels.toml``), a note (``README.txt``)."""
    *folders, name = path.lower().split("/")
    return is_note(name) or name.endswith(".toml") or any(map(is_hidden, [*folders, name]))


def question_id(document_sha256: str, section: int, number: str) -> str:
    """The id of a paper's question: ``3f9a1c2e-2-017``; padded, so that ids sort as they stand in the paper."""
    return f"{document_sha256[:8]}-{section}-{number.zfill(3)}"


_UNIQUE = re.compile(r"(?=.*\d)[0-9a-fA-F-]{16,}")  # a UUID or a long hex id: unique beyond its file

ROW_PREFIX = "r-"  # begins the ids of rows; those of papers begin with their hash


def row_id(document: str, source_id: str | None, content: str) -> str:
    """Return the id of a row's question: ``r-3f9a1c2e0b7d4a51``. It survives sorting, adding and removing other rows.

    Short ids of two ``document`` files are not the same id, UUIDs are. Where the source has no id of its own the
    question is known by its ``content_hash``.
    """
    if source_id is None:
        return f"{ROW_PREFIX}{content}"
    space = "" if _UNIQUE.fullmatch(source_id) else document
    return f"{ROW_PREFIX}{sha256('row', space, source_id)[:16]}"


def content_hash(stem: str, options: Iterable[str], shared_stem: str | None = None) -> str:
    """Return the hash of a question's text, without white space, character width and key: 16 hex digits."""
    # Nothing is composed over a zero character, which no text has.
    texts = (text.replace("\0", "") for text in (shared_stem or "", stem, *options))
    bare = "".join(unicodedata.normalize("NFKC", "\0".join(texts)).split())
    return sha256(*_INVISIBLE.sub("", bare).split("\0"))[:16]
