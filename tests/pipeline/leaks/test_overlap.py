import csv
import json
import random

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.leaks.files import BenchmarkText
from build_dataset.pipeline.leaks.overlap import Index, lines_shared
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.release import BenchmarkFile, Leak

STEM = "患者男，65岁，突发胸骨后压榨样疼痛2小时，伴大汗，含服硝酸甘油不缓解，最可能的诊断是"
OTHER = "下列哪项不是慢性阻塞性肺疾病急性加重期的治疗措施，请选择一个最佳的答案"
OPTIONS = ("心肌梗死", "肺栓塞", "主动脉夹层", "气胸")


def listed(result):
    return result.tables["leaks"].select("question_id", "kind", "file", "line").rows()


def cmb(stem, options=OPTIONS):
    return {
        "exam_type": "医师考试",
        "question": stem,
        "answer": "AB",
        "option": dict(zip("ABCDE", options, strict=False)),
    }


def write_all(folder):
    """The same two records in every format, the copied one second."""
    folder.mkdir()
    items = [cmb("完全无关的一道题目，讲的是抗生素的合理使用原则以及不良反应的处理", ("青霉素", "红霉素")), cmb(STEM)]
    (folder / "cmb.json").write_text(json.dumps(items, ensure_ascii=False, indent=1), encoding="utf-8")
    (folder / "lines.jsonl").write_text("\n".join(json.dumps(item) for item in items), encoding="utf-8")
    pl.DataFrame(
        [{"question": item["question"], "option": list(item["option"].values())} for item in items]
    ).write_parquet(folder / "rows.parquet")
    with (folder / "cmexam.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("Question", "Options", "Answer"))
        for item in items:
            options = "\n".join(f"{label} {text}" for label, text in item["option"].items())
            writer.writerow((item["question"], options, "A"))
    (folder / ".hidden.jsonl").write_text(json.dumps(STEM), encoding="utf-8")
    (folder / "figure.png").write_bytes(b"\x89PNG")
    return folder


def test_a_question_is_found_in_files_of_every_kind_with_its_line_and_span(leaks, tmp_path):
    folder = write_all(tmp_path / "public")
    found = leaks({"a": ("test", STEM), "b": ("train", OTHER, ("吸氧", "镇咳"))}, benchmarks=folder)
    assert listed(found) == [
        ("a", "copy", "cmb.json", 11),
        ("a", "copy", "cmexam.csv", 4),
        ("a", "copy", "lines.jsonl", 2),
        ("a", "copy", "rows.parquet", 2),
    ]
    text = "\n".join((STEM, *OPTIONS))
    for row in found.tables["leaks"].iter_rows(named=True):
        assert row["score"] == 1
        assert row["rows"] == 1
        assert text[row["start"] : row["end"]] == row["span"] == text
    counted = found.facts["benchmarks"]["questions"]
    assert counted["copy"] == counted["overlap"] == {"train": 0, "validation": 0, "test": 1}
    files = list(BenchmarkFile.from_frame(found.tables["benchmarks"]))
    assert {(file.file, file.records, file.test_copies, file.overlaps) for file in files} == {
        (name, 2, 1, 1) for name in ("cmb.json", "cmexam.csv", "lines.jsonl", "rows.parquet")
    }
    assert any("copies among them: 1 (1 of test)" in note for note in found.notes)
    list(Leak.from_frame(found.tables["leaks"]))


def test_thirteen_tokens_in_a_row_overlap_and_twelve_do_not(leaks, tmp_path):
    words = STEM.replace("，", "")
    for size, kinds in ((12, []), (13, ["overlap"])):
        (tmp_path / "b.jsonl").write_text(
            json.dumps({"text": "甲乙丙" + words[3 : 3 + size] + "丁戊己"}), encoding="utf-8"
        )
        found = leaks({"a": ("test", words)}, benchmarks=tmp_path)
        # 65 and 2 are one token each, whatever their digits
        (tmp_path / "b.jsonl").unlink()
        tokens = size - words[3 : 3 + size].count("65")
        assert [row[1] for row in listed(found)] == (kinds if tokens >= 13 else [])


def test_the_share_tells_overlap_from_copy_and_the_span_is_the_longest_run(leaks, tmp_path):
    half = STEM[: len(STEM) // 2]
    (tmp_path / "a.jsonl").write_text(
        "\n".join(json.dumps({"question": text}) for text in ("无关", half, STEM + "肯定不同的后续文字")),
        encoding="utf-8",
    )
    (tmp_path / "b.jsonl").write_text(json.dumps({"question": half}), encoding="utf-8")
    found = leaks({"a": ("test", STEM)}, benchmarks=tmp_path, copied=0.6)
    rows = found.tables["leaks"].rows(named=True)
    assert [(row["file"], row["kind"], row["line"], row["rows"]) for row in rows] == [
        ("a.jsonl", "copy", 3, 2),
        ("b.jsonl", "overlap", 1, 1),
    ]
    assert rows[0]["span"] == STEM
    assert rows[1]["span"] == half.rstrip("，")
    assert rows[1]["score"] < 0.5 < rows[0]["score"] < 1


def test_set_phrases_do_not_count(leaks, tmp_path):
    phrase = "在下列每小题给出的四个选项中请选出一个最符合题意的答案"
    exam = {f"q{number:02d}": ("train", f"{phrase}{chr(0x4E00 + 7 * number)}病", ()) for number in range(12)}
    (tmp_path / "b.jsonl").write_text(json.dumps(phrase), encoding="utf-8")
    found = leaks(exam, benchmarks=tmp_path)
    assert listed(found) == []
    assert len(listed(leaks(exam, benchmarks=tmp_path, common=12))) == 12


def test_short_questions_are_compared_whole_and_very_short_ones_not_at_all(leaks, tmp_path):
    exam = {
        "nine": ("test", "肝硬化的常见病因", ("甲",)),
        "part": ("test", "肝硬化的常见后果", ("乙",)),
        "two": ("test", "肝癌", ("丙",)),
    }
    lines = ("肝硬化的常见病因 甲", "肝癌 丙", "肝硬化的常见")
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = leaks(exam, benchmarks=tmp_path)
    assert listed(found) == [("nine", "copy", "b.jsonl", 1)]
    assert found.facts["benchmarks"]["too_short"] == 1


def test_a_folder_without_benchmarks_is_told(leaks, tmp_path):
    (tmp_path / "figure.png").write_bytes(b"")
    with pytest.raises(UserError, match=r"leaks\.benchmarks = .*no JSON"):
        leaks({"a": ("test", STEM)}, benchmarks=tmp_path)
    with pytest.raises(UserError, match="no JSON"):
        leaks({"a": ("test", STEM)}, benchmarks=tmp_path / "none")


def test_one_file_can_be_named(leaks, tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(STEM), encoding="utf-8")
    assert listed(leaks({"a": ("test", STEM)}, benchmarks=path)) == [("a", "overlap", "b.jsonl", 1)]


def test_the_fingerprint_follows_what_the_benchmarks_say(tmp_path):
    from build_dataset.pipeline.leaks.params import LeaksParams

    (tmp_path / "one").mkdir()
    file = tmp_path / "one" / "b.jsonl"
    file.write_text("一")
    params = LeaksParams(benchmarks=tmp_path / "one")
    before = params.semantic()
    (tmp_path / "one").rename(tmp_path / "two")
    moved = LeaksParams(benchmarks=tmp_path / "two")
    assert moved.semantic() == before
    (tmp_path / "two" / "b.jsonl").write_text("二")
    assert moved.semantic() != before


def brute(questions, records, size):
    """Questions that share a run with records, by comparing strings of one-character tokens."""
    return {
        row
        for row, question in enumerate(questions)
        if len(question) >= size
        and any(question[at : at + size] in record for at in range(len(question) - size + 1) for record in records)
    }


@given(st.integers(0, 2**32), st.sampled_from([5, 8, 13]))
@settings(max_examples=40, deadline=None)
def test_overlap_is_what_comparing_strings_finds(seed, size):
    lots = random.Random(seed)

    def text(least, most):
        return "".join(lots.choice("肝心脾") for _ in range(lots.randint(least, most)))

    questions = [text(0, 30) for _ in range(20)]
    records = [text(0, 60) for _ in range(20)]
    records += [question[lots.randrange(5) :] + text(0, 9) for question in questions[::3]]
    index = Index(questions, size, common=10**9)
    matches, seen = index.matches(BenchmarkText(line, record) for line, record in enumerate(records, 1))
    assert seen == len(records)
    expected = brute(questions, records, size)
    assert {match.row for match in matches if len(questions[match.row]) >= size} == expected
    for match in matches:
        question, record = questions[match.row], records[match.line - 1]
        assert question[match.first : match.last] in record or match.last - match.first > size
        assert 0 < match.share <= 1


def test_blocks_do_not_change_what_is_found(monkeypatch):
    from build_dataset.pipeline.leaks import overlap

    lots = random.Random(2)
    questions = ["".join(lots.choice("肝心脾肺肾") for _ in range(40)) for _ in range(60)]
    records = [BenchmarkText(line, questions[lots.randrange(60)][lots.randrange(20) :]) for line in range(1, 200)]
    whole = Index(questions, 13, 10).matches(records)
    monkeypatch.setattr(overlap, "_RECORDS", 7)
    monkeypatch.setattr(overlap, "_QUESTIONS", 9)
    assert Index(questions, 13, 10).matches(records) == whole
    assert len(whole[0]) > 40


DISORDERS = ("甲状腺功能亢进症", "原发性醛固酮增多症", "嗜铬细胞瘤综合征", "皮质醇增多症患者")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("阵发性高血压的病因可为", "低血钾性高血压常见于"),  # one list of options under two stems
        (
            "根据《中华人民共和国药品管理法实施条例》的规定，下列属于假药的是",
            "根据《中华人民共和国药品管理法实施条例》的规定，下列需要审批的是",
        ),
    ],
)
def test_lists_of_options_and_names_of_laws_are_no_leaks(leaks, tmp_path, ours: str, theirs: str):
    shared = DISORDERS if "《" not in ours else DISORDERS[:1]
    record = {"question": theirs, "options": list(shared)}
    (tmp_path / "b.jsonl").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    options = shared if "《" not in ours else DISORDERS[1:]
    found = leaks({"a": ("test", ours, options)}, benchmarks=tmp_path)
    assert found.tables["leaks"].is_empty()


SHORT = "炮制附子的目的是"
LINES = ("降低毒性", "增强疗效", "便于调剂", "改变归经", "矫臭矫味")


@given(order=st.permutations(LINES), between=st.sampled_from(["\n", " ", "　"]), blank=st.booleans())
def test_a_short_question_whose_options_change_places_is_a_copy(order, between, blank):
    index = Index(["\n".join((SHORT, *LINES)), "\n".join((OTHER, *OPTIONS))], 13, 10)
    options = [f"{label}. {text}" for label, text in zip("ABCDE", order, strict=True)]
    stem = f"{SHORT}（ ）" if blank else SHORT
    matches, _ = index.matches([BenchmarkText(7, between.join((stem, *options)))])
    assert [(match.row, match.share, match.line, match.records) for match in matches] == [(0, 1.0, 7, 1)]
    assert not index.matches([BenchmarkText(7, "\n".join((SHORT, "水制", "火制", "水火共制")))])[0]


def test_long_options_under_another_stem_are_no_leak(leaks, tmp_path):
    folder = tmp_path / "public"
    folder.mkdir()
    shared = tuple(f"{part}的黏膜下层{depth}，内含混合性腺体，上皮有角化" for part in "唇颊舌腭" for depth in ("较厚",))
    record = cmb("某药的半衰期为4小时，静脉注射后血药浓度降到四分之一需要多久", shared)
    (folder / "a.json").write_text(json.dumps([record], ensure_ascii=False), encoding="utf-8")
    asked = {"a": ("test", "下列口腔黏膜的描述正确的是", shared)}
    assert listed(leaks(asked, benchmarks=folder)) == []
    record["question"] = "关于口腔黏膜的描述，正确的是"
    (folder / "a.json").write_text(json.dumps([record], ensure_ascii=False), encoding="utf-8")
    assert [row[1] for row in listed(leaks(asked, benchmarks=folder))] == ["copy"]


def test_the_share_of_lines_counts_their_letters():
    assert lines_shared("肝心\n脾肺肾\n胃", "脾肺肾A. 胃") == pytest.approx(4 / 6)
    assert lines_shared("", "胃") == 0
