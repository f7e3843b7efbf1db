"""Which exam a document belongs to."""

from __future__ import annotations

import pytest

from pipeline.ocr.assemble import Exam, exam_of, from_folders, read_manifest
from schemas.errors import UserError
from schemas.taxonomy import cmb_catalogue


def test_folders_name_entries_of_the_catalogue():
    category = cmb_catalogue()[0]
    subcategory = category.subcategories[0]
    subject = subcategory.subjects[0]
    whole = Exam(category.zh, subcategory.zh, subject)
    assert from_folders((category.zh, subcategory.zh, subject)) == whole
    assert from_folders(("2023", subcategory.en)) == Exam(category.zh, subcategory.zh)
    assert from_folders(("papers", "2023")) == Exam()


def test_the_manifest_outweighs_folders(tmp_path):
    (tmp_path / "manifest.csv").write_text(
        "document,exam_type,exam_class,exam_subject\n医师考试/x.pdf,护理考试,,\n", encoding="utf-8-sig"
    )
    manifest = read_manifest(tmp_path)
    assert exam_of("医师考试/x.pdf", manifest) == Exam("护理考试")
    assert exam_of("医师考试/y.pdf", manifest) == Exam("医师考试")


def test_a_manifest_with_other_columns_is_an_error_in_one_line(tmp_path):
    (tmp_path / "manifest.csv").write_text("file,type\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"manifest\.csv: columns must be document"):
        read_manifest(tmp_path)


def test_a_manifest_that_contradicts_itself_is_an_error_in_one_line(tmp_path):
    text = "document,exam_type\nx.pdf,护理考试\nx.pdf,药师考试\n"
    (tmp_path / "manifest.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="twice with different exams"):
        read_manifest(tmp_path)
