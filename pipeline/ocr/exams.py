"""Which exam a document belongs to: from the manifest, or from the folders it lies in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from schemas.errors import UserError
from schemas.taxonomy import cmb_catalogue

MANIFEST = "manifest.csv"
_FIELDS = ("exam_type", "exam_class", "exam_subject")


@dataclass(frozen=True, slots=True)
class Exam:
    """Return the place of a document in CMB's catalogue; None where nothing says so."""

    exam_type: str | None = None
    exam_class: str | None = None
    exam_subject: str | None = None


def exam_of(document: str, manifest: Mapping[str, Exam]) -> Exam:
    """The manifest's word, else what the document's folders name in Chinese or English."""
    if document in manifest:
        return manifest[document]
    return from_folders(PurePosixPath(document).parts[:-1])


def from_folders(parts: tuple[str, ...]) -> Exam:
    """The entries of the catalogue that folders name: a subcategory implies its category."""
    names = {part.strip().casefold() for part in parts}
    exam_type = exam_class = exam_subject = None
    for category in cmb_catalogue():
        if {category.zh.casefold(), category.en.casefold()} & names:
            exam_type = category.zh
        for subcategory in category.subcategories:
            if {subcategory.zh.casefold(), subcategory.en.casefold()} & names and exam_type in (
                None,
                category.zh,
            ):
                exam_type, exam_class = category.zh, subcategory.zh
    for category in cmb_catalogue():
        for subcategory in category.subcategories:
            if subcategory.zh == exam_class:
                exam_subject = next((name for name in subcategory.subjects if name.casefold() in names), None)
    return Exam(exam_type, exam_class, exam_subject)


def read_manifest(raw: Path) -> dict[str, Exam]:
    """``manifest.csv`` of the raw folder: columns document, exam_type, exam_class, exam_subject.

    Raises:
        UserError: it cannot be read, has other columns, or names a document twice with different exams.
    """
    path = raw / MANIFEST
    return _read(path) if path.is_file() else {}


def manifest_within(path: Path, document: str) -> dict[str, Exam] | None:
    """A ``manifest.csv`` of a folder or archive, whose documents count from there; None for a table of another kind."""
    home = PurePosixPath(document).parent
    try:
        return {(home / name).as_posix(): exam for name, exam in _read(path).items()}
    except (UserError, OSError):
        return None


def _read(path: Path) -> dict[str, Exam]:
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
        unknown = sorted(set(rows.fieldnames or ()) - {"document", *_FIELDS})
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"raw/{MANIFEST}: cannot be read as a UTF-8 CSV file ({error})") from error
    if unknown or "document" not in (rows.fieldnames or ()):
        found = ", ".join(rows.fieldnames or ()) or "none"
        raise UserError(f"raw/{MANIFEST}: columns must be document, {', '.join(_FIELDS)}; found {found}")
    exams: dict[str, Exam] = {}
    for row in rows:
        document = (row["document"] or "").strip()
        exam = Exam(*((row.get(name) or "").strip() or None for name in _FIELDS))
        if document and exams.setdefault(document, exam) != exam:
            raise UserError(f"raw/{MANIFEST}: {document} stands there twice with different exams: keep one")
    return exams
