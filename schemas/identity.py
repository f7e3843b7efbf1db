"""How questions are named: where one comes from, and what it says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_NOT_CONTENT = re.compile(r"[\s\u200b-\u200f\ufeff]+")


def sha256(*parts: str | bytes) -> str:
    """Hex SHA-256 of the parts, each preceded by its length so that their borders count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def question_id(document_sha256: str, section: int | None, number: str) -> str:
    """The id of a question: ``3f9a1c2e-2-017``, or ``3f9a1c2e-r000017`` for row 17 of a tabular source.

    Args:
        document_sha256: of the file it stands in.
        section: from 1; None for tabular sources.
        number: the printed number or row; digits are padded so that ids sort as they stand in the paper.
    """
    head = document_sha256[:8]
    if section is None:
        return f"{head}-r{number.zfill(6)}"
    return f"{head}-{section}-{number.zfill(3)}"


def content_hash(stem: str, options: Iterable[str], shared_stem: str | None = None) -> str:
    """What a question says, apart from white space, width of characters and its key: 16 hex digits."""
    parts = [shared_stem or "", stem, *options]
    return sha256(*(_NOT_CONTENT.sub("", unicodedata.normalize("NFKC", part)) for part in parts))[:16]
