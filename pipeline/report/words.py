"""Chinese names beside the English ones, of what the pipeline itself names."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.annotations import LabelStatus

STAGES: Mapping[str, str] = {
    "ocr": "识别",
    "parse": "解析",
    "clean": "清洗",
    "dedup": "去重",
    "annotate": "预标注",
    "review": "专家审核",
    "calibrate": "校准",
    "split": "划分",
    "leaks": "泄漏检查",
    "export": "导出",
    "evaluate": "评测",
}
UNITS: Mapping[str, str] = {"files": "文件", "items": "条目", "questions": "题目", "prompts": "提问"}
OUTCOMES: Mapping[str, str] = {"kept": "保留", "merged": "合并", "rejected": "剔除", "waiting": "待处理"}
SPLITS: Mapping[str, str] = {"train": "训练集", "validation": "验证集", "test": "测试集"}
FIELDS: Mapping[str, str] = {
    "stem": "题干",
    "shared_stem": "共用题干",
    "option": "选项",
    "options": "选项",
    "answer": "答案",
    "explanation": "解析",
    "verdict": "去留",
}
"""Parts of a question."""
CHANGES: Mapping[str, str] = {
    "added": "新增",
    "removed": "移除",
    "renamed": "改编号",
    "moved": "换划分",
    "changed": "内容修改",
    "relabelled": "标签修改",
    "updated": "其他更新",
}
"""What can happen to a question from one release to the next."""
MERGED: dict[str, str] = {
    "exact": "完全相同",
    "same_question": "同一题目，措辞不同",
    "reordered_options": "选项顺序不同",
}
"""Kinds of merged duplicates."""
TWINS: dict[str, str] = {
    "negation": "否定不同",
    "number": "数值不同",
    "unit": "单位不同",
    "sex": "性别不同",
    "age": "年龄不同",
    "term": "关键词不同",
    "variant": "题干相同、选项不同",
}
"""Kinds of similar questions that are kept."""
STATUSES: Mapping[LabelStatus, tuple[str, str]] = {
    LabelStatus.AGREED: ("two experts agree", "两位专家一致"),
    LabelStatus.ADJUDICATED: ("experts disagreed, settled", "经仲裁"),
    LabelStatus.SINGLE: ("one expert so far", "仅一位专家"),
    LabelStatus.DISPUTED: ("experts disagree, no label", "有分歧"),
    LabelStatus.UNREVIEWED: ("no expert has looked", "未经专家审核"),
}
"""Review status of a label."""
