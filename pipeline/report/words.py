"""Chinese names beside the English ones, of what the pipeline itself names."""

from __future__ import annotations

from collections.abc import Mapping

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
OUTCOMES: Mapping[str, str] = {"kept": "保留", "merged": "合并", "rejected": "剔除", "waiting": "待定"}
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
