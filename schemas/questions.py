"""Questions, and the outcomes of everything that did not become one."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, Self, get_args

from pydantic import Field

from build_dataset.schemas.base import Record
from build_dataset.schemas.documents import Box, UnsureCharacter


class QuestionType(StrEnum):
    """Item types of Chinese medical examinations that are multiple-choice questions."""

    A1 = "A1"  # One best answer, short stem.
    A2 = "A2"  # One best answer, the stem is a case.
    A3_A4 = "A3/A4"  # One best answer, one of several questions on a shared case.
    B1 = "B1"  # One best answer from options shared by several stems.
    X = "X"  # Several answers.


SEVERAL_ANSWERS = frozenset({QuestionType.X})
"""Types whose questions have several right answers; those of the others have one."""
SHARING = frozenset({QuestionType.A3_A4, QuestionType.B1})  # Types whose questions share a case or options with others.


class Option(Record):
    """An option: its label (a capital letter) and its text."""

    label: str
    text: str


class Region(Record):
    """A box on a page (numbered from 1)."""

    page: int
    box: Box


class Question(Record):
    """A multiple-choice question."""

    question_id: str
    """Identity by origin: first 8 hex digits of the document's SHA-256, section, number. Survives better OCR."""
    document: str
    section: int | None  # Section of the paper, from 1; null for rows of tabular sources.
    number: int | None  # The number printed before it, or the row of a tabular source.
    question_type: QuestionType
    stem: str
    shared_stem: str | None = None  # The case of an A3/A4 group.
    group_id: str | None = None
    """The same for all questions that share a stem or options; they may never be split apart."""
    options: list[Option]
    answer: list[str] | None = None  # Letters in order; null when no key was found.
    accepted_answers: list[list[str]] | None = None
    """Every answer that earns the mark, when a corrected key says so; null otherwise."""
    explanation: str | None = None
    human_accuracy: float | None = None  # Share of people who answered it correctly, 0..1.
    respondents: int | None = None
    comment: str | None = None  # The source's comment or erratum.
    pages: list[int] | None = None  # Pages it stands on, from 1; null for tabular sources.
    regions: list[Region] | None = None  # Boxes of its lines; null for sources without layout.
    attachments: list[str] | None = None
    """Kinds of the regions inside it: ``figure``, ``table``, ``formula``; null when there are none."""
    confidence: float | None = None
    """Lowest recognition confidence of its lines; null for text layers and tabular sources."""
    unsure: list[UnsureCharacter] | None = None
    """Characters of its lines that may be misread; without any, its least sure line; null where nothing was
    recognised."""
    exam_type: str | None = None
    exam_class: str | None = None
    exam_subject: str | None = None
    year: str | None = None  # Its year in the words of the source: 2019, 104年.
    chapter: str | None = None
    points: float | None = None
    link: str | None = None  # The address that the source gives for it.
    content_hash: str  # Hash of its content: see `schemas.identity.content_hash`.

    @property
    def exam(self) -> str:
        """The exam that it is from, as far as the source names it: ``医师考试 执业医师``."""
        return " ".join(filter(None, (self.exam_type, self.exam_class, self.exam_subject)))


class TextChange(Record):
    """A text that tidying changed; it restores the text as it was read."""

    question_id: str
    part: str  # `stem`, `shared_stem`, `explanation`, `comment`, `option:A` …
    before: str
    after: str | None  # Null where nothing visible was left.


class Rejection(Record):
    """Something that was taken out, and why."""

    item_id: str  # A question_id, or a document's path.
    stage: str
    reason: str  # A short code, for counting.
    detail: str  # One sentence for people.
    item: str | None = None  # The thing itself as JSON, where there is more to it than its id.


class ReviewItem(Record):
    """Something that waits for a person, and why."""

    item_id: str
    question_ids: list[str] = Field(default_factory=lambda known: [known["item_id"]])  # unless said otherwise
    """The questions concerned; empty for one that is missing."""
    stage: str
    reason: str
    detail: str
    item: str | None = None

    @classmethod
    def of(cls, question: Question, stage: str, reason: str, detail: str) -> Self:
        """Return a whole question that waits."""
        item = question.model_dump_json(exclude_none=True)
        return cls(item_id=question.question_id, stage=stage, reason=reason, detail=detail, item=item)


class DoubtedPlace(Record):
    """A place in a question that a second reader doubts."""

    question_id: str
    kind: str  # `missing_text`, `needs_figure`, `foreign_text`, `misread`, `options` …
    field: str  # `stem`, `shared_stem`, `option:A`, `answer` or `explanation`.
    quote: str  # The place, as the field says it.
    proposal: str | None  # The text that a misread quotation should be; null for other kinds.


class Merge(Record):
    """A question that was merged into another."""

    question_id: str
    survivor_id: str
    kind: str  # `exact`, `same_question`, `reordered_options`.
    score: float  # Similarity in 0..1; 1 for exact.
    reason: str


class Cluster(Record):
    """A question's place in a cluster of similar questions; clusters are never split apart."""

    question_id: str
    cluster_id: str
    kind: str  # Relation to the cluster: `survivor`, `variant`, `negation`, `number`, …


Split = Literal["train", "validation", "test"]
SPLITS: tuple[str, ...] = get_args(Split)  # in the order of every table
SPLIT_NAMES: Mapping[str, str] = {"train": "训练集", "validation": "验证集", "test": "测试集"}


class Assignment(Record):
    """A question's split."""

    question_id: str
    split: str
    stratum: str
