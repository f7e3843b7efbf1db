"""Names under which tabular sources keep the parts of a question; case does not matter."""

from __future__ import annotations

STEM = ("question", "stem", "题目", "題目", "题干", "題幹", "问题", "問題", "试题", "試題", "title")
OPTIONS = ("options", "option", "选项", "選項", "choices")
ANSWER = ("answer", "answers", "答案", "正确答案", "正確答案", "correct_answer")
EXPLANATION = ("explanation", "解析", "答案解析", "解释", "詳解", "analysis")
TYPE = ("question_type", "type", "题型", "題型")
ACCURACY = ("human_accuracy", "accuracy", "正确率", "正確率", "correct_rate")
RIGHT = ("n_right", "correct", "right", "答对人数", "num_correct")
TOTAL = ("respondents", "n_total", "total", "作答人数", "答题人数", "num_total")
COMMENT = ("comment", "comments", "备注", "備註", "error")
SHARED = ("shared_stem", "共用题干")
GROUP = ("group_id",)
