"""Text is repaired only where one reading is left."""

from dataclasses import replace

import pytest

from benchmarks.papers.check import lines_of
from build_dataset.pipeline.parse.keylines import line_pairs
from build_dataset.pipeline.parse.lines import in_one_script, parsed_lines

OPTIONS = "A. 甲\nB. 乙\nC. 丙\nD. 丁"
CASE = "男性，15岁。肉眼血尿伴水肿1周，20天前皮肤脓疱疮。最可能的诊断是"


def recognised(text: str):
    return [replace(piece, confidence=0.9) for piece in parsed_lines(lines_of([text.split("\n")], "p.pdf"))]


def test_questions_on_one_patient_take_a_letter_each(parse):
    outcome = parse(f"3. {CASE}\n{OPTIONS}\n4. 控制该患者的血压应首选\n{OPTIONS}\n答：CD\n5. 另一题\n{OPTIONS}\n答：A")
    assert [question.answer for question in outcome.questions if question.number < 5] == [["C"], ["D"]]
    first, second = [question for question in outcome.questions if question.number in (3, 4)]
    assert second.shared_stem == first.stem
    assert first.group_id == second.group_id is not None


def test_a_table_of_addresses_is_no_key():
    assert not line_pairs("1000 H\t2000 H")


@pytest.mark.parametrize("text", ["8. 首選\nA. 檢査\n病人因發燒就醫，檢查發現没有黃疸，診断為肝臟疾病"])
def test_a_traditional_paper_keeps_its_script(text):
    mended = "\n".join(piece.text for piece in in_one_script(recognised(text)))
    assert "沒有黃疸，診斷為肝臟疾病" in mended


def test_characters_of_both_scripts_and_simplified_papers_stay():
    simplified = recognised("检查没有发现异常，诊断为肝脏疾病")
    assert in_one_script(simplified) == simplified
    both = recognised("臺灣台北的醫師檢查後發現，此後里長與皇后來診，沒有發燒與黃疸")
    assert in_one_script(both) == both


def test_a_text_layer_is_never_mended():
    printed = parsed_lines(lines_of([["病人因發燒就醫，檢查發現没有黃疸，診斷為肝臟疾病"]], "p.pdf"))
    assert in_one_script(printed) == printed


STATEMENTS = "属于该病表现的是\n①发热\n②咳嗽\n③乏力\n④皮疹\n答案：C\n"
K_ITEMS = "".join(f"{number}. {STATEMENTS}" for number in range(1, 5))


def test_k_items_take_the_codes_of_their_head(parse):
    head = "K型题\n答题说明：A. ①②③ B. ①③ C. ②④ D. ④ E. ①②③④\n"
    question, *others = parse(head + K_ITEMS).questions
    assert len(others) == 3
    assert [option.text for option in question.options] == ["①②③", "①③", "②④", "④", "①②③④"]
    assert question.answer == ["C"]


def test_k_items_without_codes_are_set_aside(parse):
    assert [reject.reason for reject in parse(f"K型题\n{K_ITEMS}").rejects] == ["k_type"] * 4
