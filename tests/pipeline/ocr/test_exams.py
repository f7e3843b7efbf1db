"""Which exam a document belongs to."""

import pytest

from build_dataset.pipeline.ocr.assemble import Exam, exam_of, read_manifest
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.taxonomy import cmb_catalogue


def test_folders_name_entries_of_the_catalogue():
    category = cmb_catalogue()[0]
    subcategory = category.subcategories[0]
    subject = subcategory.subjects[0]
    whole = Exam(category.zh, subcategory.zh, subject)
    assert exam_of(f"{category.zh}/{subcategory.zh}/{subject}/a.pdf", {}) == whole
    assert exam_of(f"2023/{subcategory.en}/a.pdf", {}) == Exam(category.zh, subcategory.zh)
    assert exam_of("papers/2023/a.pdf", {}) == Exam()


def test_a_subcategory_of_another_category_does_not_count():
    first, second = cmb_catalogue()[:2]
    assert exam_of(f"{first.zh}/a.pdf", {}) == Exam(first.zh)
    assert exam_of(f"{first.zh}/{second.subcategories[0].zh}/a.pdf", {}) == Exam(first.zh)
    assert exam_of(f" {second.en.upper()} /a.pdf", {}) == Exam(second.zh)
    assert exam_of(f"{first.zh}.pdf", {}) == Exam()


def test_the_manifest_outweighs_folders(tmp_path):
    (tmp_path / "manifest.csv").write_text(
        "document,exam_type,exam_class,exam_subject\n医师考试/x.pdf,护理考试,,\n", encoding="utf-8-sig"
    )
    manifest = read_manifest(tmp_path)
    assert exam_of("医师考试/x.pdf", manifest) == Exam("护理考试")
    assert exam_of("医师考试/y.pdf", manifest) == Exam("医师考试")


def test_a_manifest_that_contradicts_itself_is_an_error_in_one_line(tmp_path):
    text = "document,exam_type\nx.pdf,护理考试\nx.pdf,药师考试\n"
    (tmp_path / "manifest.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="twice with different exams"):
        read_manifest(tmp_path)
