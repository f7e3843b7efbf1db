"""Papers as Word documents."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime

from docx import Document

from renderer.model import LETTERS, Paper

_WHEN = (2024, 3, 1, 8, 0, 0)


def docx(paper: Paper) -> bytes:
    """The paper as DOCX, a paragraph a line, the same bytes on every run."""
    document = Document()
    properties = document.core_properties
    properties.author, properties.title = "", paper.title
    properties.created = properties.modified = datetime(*_WHEN)  # noqa: DTZ001 - the format has no time zone
    document.add_heading(paper.title, level=1)
    for section in paper.sections:
        count = len(section.items)
        document.add_paragraph(f"{section.title}（本题共{count}小题。{section.note}）")
        for item in section.items:
            document.add_paragraph(f"{item.number}. {item.stem}")
            for letter, text in zip(LETTERS, item.options, strict=False):
                document.add_paragraph(f"{letter}. {text}")
            document.add_paragraph(f"答案：{item.answer}")
            if item.explanation:
                document.add_paragraph(f"解析：{item.explanation}")
    target = io.BytesIO()
    document.save(target)
    return _with_fixed_dates(target.getvalue())


def _with_fixed_dates(package: bytes) -> bytes:
    """The same ZIP with every member dated alike: Word files carry the minute they were written."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(target, "w") as new:
        for name in sorted(old.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            member = zipfile.ZipInfo(name, date_time=_WHEN)
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, old.read(name))
    return target.getvalue()
