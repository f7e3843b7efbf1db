"""Old office files through LibreOffice: a program on the path that is told what to write where."""

import shutil
import subprocess
from pathlib import Path

import docx
import openpyxl
import pytest

from build_dataset.pipeline import archives
from build_dataset.pipeline.archives import convert_office_file, locate
from build_dataset.pipeline.ocr import stage as ocr
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.runtime.sources import raw_files
from build_dataset.schemas.errors import UnreadableDocument

OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old"
WRITES = """while [ $# -gt 1 ]; do [ "$1" = --outdir ] && out=$2; shift; done
echo new > "$out/paper.docx"
echo x >> "$0.runs\""""


@pytest.fixture
def office(tmp_path, monkeypatch):
    """A stand-in for LibreOffice that runs a shell command."""

    def install(command: str) -> Path:
        program = tmp_path / "bin" / "soffice"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{command}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        return program

    return install


@pytest.fixture
def paper(tmp_path):
    (tmp_path / "raw").mkdir()
    path = tmp_path / "raw" / "paper.doc"
    path.write_bytes(OLD)
    return path


def test_an_old_file_is_converted_once(tmp_path, office, paper):
    program = office(WRITES)
    for _ in range(2):
        copy = locate(paper.parent, tmp_path / "build", "paper.doc")
        assert (copy.suffix, copy.read_text()) == (".docx", "new\n")
    assert Path(f"{program}.runs").read_text() == "x\n"
    assert not [*copy.parent.glob(".part-*")]


def test_without_libreoffice_the_file_stays_what_it_is(tmp_path, paper, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert convert_office_file(paper, tmp_path / "build") == paper


@pytest.mark.parametrize(("command", "reason"), [("exit 0", "broken"), ("exit 3", "broken"), ("sleep 60", "timeout")])
def test_what_cannot_be_converted_costs_itself_alone(tmp_path, office, paper, monkeypatch, command, reason):
    office(command)
    monkeypatch.setattr(archives, "TIMEOUT", 0.5)
    with pytest.raises(UnreadableDocument) as caught:
        convert_office_file(paper, tmp_path / "build")
    assert caught.value.reason == reason


def test_other_formats_are_never_handed_over(tmp_path, office):
    office("exit 3")
    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF")
    assert convert_office_file(path, tmp_path / "build") == path


def test_a_converted_paper_is_read_though_its_copy_has_another_size(tmp_path, office, context):
    written = docx.Document()
    for line in ("1. 下列哪项正确", "A. 甲", "B. 乙", "答案：B"):
        written.add_paragraph(line)
    written.save(str(tmp_path / "new.docx"))
    office(WRITES.replace("echo new >", f"cp {tmp_path / 'new.docx'}"))
    (context.raw / "old.doc").write_bytes(OLD)
    context.dataset = context.dataset.model_copy(update={"raw": context.raw, "build": context.build})
    result = ocr.run({"files": raw_files(context.dataset)}, OcrParams(), context)
    assert result.tables["lines"]["text"].to_list() == ["1. 下列哪项正确", "A. 甲", "B. 乙", "答案：B"]


LINES = ["1. 下列哪项正确", "A. 甲", "B. 乙", "答案：B"]


def saved_as(path: Path, kind: str) -> Path:
    """Convert a file with LibreOffice."""
    profile = f"-env:UserInstallation={(path.parent / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", kind, "--outdir", str(path.parent), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    if not (saved := path.with_suffix(f".{kind}")).exists():
        pytest.skip(f"this LibreOffice has no part that writes {kind}")
    return saved


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_real_files_of_old_formats_are_read_and_damaged_ones_refused(tmp_path, context):
    written = docx.Document()
    for line in LINES:
        written.add_paragraph(line)
    written.save(str(tmp_path / "paper.docx"))
    book = openpyxl.Workbook()
    for row in (["题目", "A", "B", "答案"], ["下列哪项正确", "甲", "乙", "B"]):
        book.active.append(row)
    book.save(tmp_path / "bank.xlsx")
    for kind in ("doc", "rtf", "odt"):
        shutil.move(saved_as(tmp_path / "paper.docx", kind), context.raw / f"{kind}.{kind}")
    for kind in ("xls", "ods"):
        shutil.move(saved_as(tmp_path / "bank.xlsx", kind), context.raw / f"{kind}.{kind}")
    shutil.copy(context.raw / "doc.doc", context.raw / "wps.wps")
    with (context.raw / "wps.wps").open("ab") as file:
        file.write(b"\0")  # another file, not a copy
    (context.raw / "damaged.doc").write_bytes(OLD + bytes(600))
    (context.raw / "other.doc").write_bytes(bytes(range(256)))
    context.dataset = context.dataset.model_copy(update={"raw": context.raw, "build": context.build})
    result = ocr.run({"files": raw_files(context.dataset)}, OcrParams(), context)
    assert {row.item_id: row.reason for row in result.rejects} == {"damaged.doc": "broken", "other.doc": "broken"}
    lines = result.tables["lines"].sort("order").group_by("document").agg("text")
    assert dict(lines.iter_rows()) == dict.fromkeys(["doc.doc", "rtf.rtf", "odt.odt", "wps.wps"], LINES)
    rows = dict(result.tables["rows"].select("document", "fields").iter_rows())
    assert rows == dict.fromkeys(["xls.xls", "ods.ods"], rows["xls.xls"])
    assert "下列哪项正确" in rows["xls.xls"]
