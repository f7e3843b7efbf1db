"""Which key document belongs to which paper: by name, exam code, count of questions, title."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.parse.paper import Paper

_KEY_WORDS = re.compile(
    r"(?:corrected|answers?|standard|keys?|papers?|questions?|exam|test|ans|mod|sol(?:ution)?s?|q"
    r"|参考答案|解答|詳解|详解|答案(?:与解析|及解析)?|标准答案|標準答案|更正|更正答案|解析|试卷|试题|試題|题目|題目|真题)"
)
_CORRECTED_NAME = re.compile(r"corrected|mod(?![a-z])|更正|勘误", re.IGNORECASE)
_CORRECTED_TEXT = re.compile(r"更正")
_CODE = re.compile(r"(?:代\s*號|代\s*号|代\s*码|科目代码)\s*[:：]\s*([0-9A-Za-z]{3,8})")
_YEAR = re.compile(r"(?<!\d)(\d{2,4})\s*年")
_ENOUGH = 3
"""Points of evidence in the texts that make a match without a matching name."""


@dataclass(frozen=True, slots=True)
class Match:
    """Papers a key may belong to: exactly one is a match."""

    papers: tuple[Paper, ...]
    why: str


def name_stem(document: str) -> str:
    """A file's folder and name without extension, separators and the words that tell keys from papers."""
    path = PurePosixPath(document)
    name = re.sub(r"([a-z])(?=\d)|(\d)(?=[a-z])", r"\1\2 ", path.stem.lower())
    tokens = [token for token in re.split(r"[\s_\-.()（）【】\[\]]+", name) if token]
    kept = [token for token in (_KEY_WORDS.sub("", token) for token in tokens) if token]
    return f"{path.parent}/{' '.join(kept)}"


def is_corrected(paper: Paper) -> bool:
    """Whether a key states what changed after appeals."""
    name = PurePosixPath(paper.document).stem
    return bool(
        _CORRECTED_NAME.search(name)
        or _CORRECTED_TEXT.search(paper.text)
        or paper.key.corrections
        or any(run.noted for run in paper.key.runs)
    )


def find_paper(key: Paper, papers: Sequence[Paper]) -> Match:
    """The paper, or the equally likely papers, that a key document belongs to."""
    named = [paper for paper in papers if name_stem(paper.document) == name_stem(key.document)]
    if named:
        return Match(tuple(named), "same name")
    scored = [(_evidence(key, paper), paper) for paper in papers]
    best = max((score for score, _ in scored), default=0)
    if best < _ENOUGH:
        return Match((), "no paper of that name, exam code and count")
    return Match(tuple(paper for score, paper in scored if score == best), "same exam code, count and year")


def _evidence(key: Paper, paper: Paper) -> int:
    """Points: exam code 2, count 1, year 1, folder 1; none where numbers of questions contradict."""
    numbers = {draft.number for draft in paper.items if draft.number is not None}
    keyed = key.key.numbers
    if len(keyed & numbers) < 0.8 * max(len(keyed), 1):
        return 0
    points = 1 if keyed == numbers else 0
    codes = set(_CODE.findall(_flat(paper.text)))
    points += 2 if codes & set(_CODE.findall(_flat(key.text))) else 0
    years = _YEAR.search(_flat(paper.text)), _YEAR.search(_flat(key.text))
    if years[0] and years[1]:
        if years[0][1] != years[1][1]:
            return 0
        points += 1
    same_folder = PurePosixPath(paper.document).parent == PurePosixPath(key.document).parent
    return points + (1 if same_folder else 0)


def _flat(text: str) -> str:
    return re.sub(r"\s+", "", text)
