"""The screen on which experts score an answer in free text, and its tasks: CMB's figures 6 and 7. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from xml.etree import ElementTree as ET

from annotation.label_studio import widgets
from annotation.label_studio.tasks import Task, task
from annotation.label_studio.widgets import TEXT
from annotation.rubric.answers import ShownAnswer
from annotation.rubric.aspects import LEAST, Aspect, aspects
from schemas.identity import sha256

KEYS = ("12345", "qwert", "asdfg", "zxcvb")
"""Of each aspect: a row of the keyboard, its leftmost key the worst score."""
_NONE = "（无 none）"
_BOXES = (
    (
        "病史描述",
        "Case",
        "病人的基本信息、检查结果等；考试题则为题目本身。",
        "The patient's case, or the exam question.",
    ),
    (
        "对话",
        "Conversation",
        "此前的问答，已提供给模型，可能为空。",
        "Earlier questions, given to the model.",
    ),
    ("题目", "Question", "模型需要回答的问题。", "What the model was asked."),
    (
        "模型回答",
        "Answer",
        "待评分的回答；模型名称不显示。",
        "To be scored; nobody sees which model's it is.",
    ),
    ("参考答案", "Reference", "评分的依据。", "What the answer is held against."),
)
_NAMES = {en: f"{zh} {en}" for zh, en, _, _ in _BOXES}


@cache
def scoring_config() -> str:
    """The screen as XML: what was known on the left; question, answer and reference on the right, over the scales.

    Results carry the score alone. Nothing scrolls at 1440 by 900 but a text that is too long, and that on its own.
    """
    root = widgets.screen("scoring.css")
    columns = widgets.view(root, "bd bd-score")
    left = widgets.view(columns, "bd-paper")
    _box(left, "Case", "case")
    _box(left, "Conversation", "conversation")
    right = widgets.view(columns, "bd-labels")
    _guideline(right)
    _box(right, "Question", TEXT, "bd-asked")
    _box(right, "Answer", "answer", "bd-said")
    _box(right, "Reference", "reference", "bd-key")
    scales = widgets.view(right, "bd-scores")
    for aspect, keys in zip(aspects(), KEYS, strict=True):
        _scale(scales, aspect, keys)
    widgets.note(widgets.view(right, "bd-remark"))
    return widgets.written(root)


def scoring_tasks(answers: Iterable[ShownAnswer], *, seed: int) -> list[Task]:
    """A task an answer, in an order drawn by lot, so that neither runs nor questions stand together."""
    shown = {answer.id: answer for answer in answers}
    drawn = sorted(shown, key=lambda name: sha256(f"{seed}", "scoring", name))
    return [
        task(
            name,
            {
                "case": shown[name].case or _NONE,
                "conversation": shown[name].conversation or _NONE,
                TEXT: shown[name].question,
                "answer": shown[name].answer,
                "reference": shown[name].reference,
            },
            None,
        )
        for name in drawn
    ]


def _box(column: ET.Element, en: str, name: str, style: str = "") -> None:
    widgets.text(widgets.headed(column, _NAMES[en], f"bd-read {style}".strip()), name)


def _scale(row: ET.Element, aspect: Aspect, keys: str) -> None:
    box = widgets.titled(row, aspect.zh, aspect.en)
    message = f"请评分：{aspect.zh} · score: {aspect.en}"
    control = widgets.one_of(box, aspect.name, message=message, layout="vertical")
    steps = zip(aspect.scale, aspect.scale_en, keys, strict=True)
    for score, (zh, en, key) in enumerate(steps, start=LEAST):
        ET.SubElement(control, "Choice", value=str(score), html=f"{score} {zh}", hint=en, hotkey=key)


def _guideline(column: ET.Element) -> None:
    """What to do and what the parts of the screen are."""
    head = "评分细则 Guideline · 1–5 q–t a–g z–b 评分，Ctrl+Enter 提交"
    panel = widgets.folded(column, head, style="bd-box bd-why")
    for said in _guideline_lines():
        widgets.line(panel, said)


def _guideline_lines() -> list[str]:
    return [
        "先读病史、对话和题目，再对照参考答案，按四个方面给模型回答打分；四项都打分后才能提交。",
        "Read the case, the conversation and the question; hold the answer against the reference; score all four.",
        "各方面独立打分：只看内容，不看长短和文风；与参考答案说法不同但正确的内容不扣分。",
        "Each aspect by itself; length and style do not count; what is right in other words is right.",
        *(f"{zh} {en}：{meaning} {english}" for zh, en, meaning, english in _BOXES),
        "键盘每一行对应一个方面，从左到右为1到5分；可改按别的键，再按同一键则取消；在备注框中按 Tab 离开。",
        "A row of keys for each aspect, 1 to 5 from the left; the same key again takes it back; Tab leaves the note.",
        *(
            f"{aspect.zh} {aspect.en}："
            + "；".join(f"{score} {text}" for score, text in enumerate(aspect.scale_en, start=LEAST))
            for aspect in aspects()
        ),
    ]
