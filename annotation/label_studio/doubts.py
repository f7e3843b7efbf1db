"""Why a question waits, in words for those who verify it. Pure."""

from __future__ import annotations

import re

from schemas.questions import ReviewItem

NAMES = {
    "answer_in_text": "文中的字母可能是答案",
    "answer_not_in_options": "答案不在选项之中",
    "answer_not_read": "答案未能读出",
    "answers_disagree": "答案前后不一致",
    "case_inside": "混入了其他题目的共用题干",
    "case_missing": "缺少共用题干",
    "conflicting_answers": "同一道题有不同答案",
    "copies_differ": "两处印出的文字不同",
    "correction_outdated": "改正之后原文又有变动",
    "duplicate_number": "题号重复",
    "empty_option": "选项没有内容",
    "empty_place": "文字中有缺失",
    "erratum": "来源注有勘误",
    "explanation_disagrees": "解析与答案不一致",
    "flagged_by_adjudicator": "仲裁人指出题目有误，但未改正",
    "foot_inside": "混入了页脚或网站文字",
    "joint_answer": "一个答案可能对应几道题",
    "label_inside_text": "文字中夹有选项字母",
    "label_put_back": "选项字母是补上的",
    "low_confidence": "识别把握不大",
    "may_hold_another": "可能混入了另一道题",
    "no_answer": "没有答案",
    "no_options": "没有找到选项",
    "no_stem": "没有题干",
    "note_not_read": "答案所附说明未能读出",
    "option_too_long": "选项过长，可能混入别处文字",
    "options_alike": "两个选项相同",
    "options_missing": "选项比其他题少",
    "options_not_contiguous": "选项字母不连续",
    "options_too_many": "选项比其他题多",
    "parts_and_answers_differ": "小题数与答案数不符",
    "parts_and_options_differ": "小题数与选项组数不符",
    "room_inside": "两行之间可能缺了一行",
    "several_answers": "单选题有多个答案",
    "several_option_runs": "选项出现了不止一组",
    "suspicious_key": "答案可疑",
    "suspicious_text": "含有针对模型的指令",
    "text_left_over": "可能混入了别处的文字",
    "unreadable_characters": "有无法识别的字符",
}
"""What stages call a doubt, in Chinese."""
_CODE = re.compile(rf"(?:^|; )({'|'.join(NAMES)}): ")


def told(item: ReviewItem) -> str:
    """The doubts of an item, one a line, in both languages."""
    named = item.detail.startswith(f"{item.reason}: ")
    detail = item.detail if named or not item.detail else f"{item.reason}: {item.detail}"
    return _CODE.sub(lambda found: f"\n{NAMES[found[1]]} {found[1]}：", detail or item.reason).strip()
