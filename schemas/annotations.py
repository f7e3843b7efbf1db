"""Records of labels: annotations, experts' reviews and corrections, final labels, agreement, calibration."""

from enum import StrEnum

from build_dataset.schemas.base import Record
from build_dataset.schemas.questions import Option


class Annotation(Record):
    """A label that an annotator (a model, a lexicon) gave a question in one dimension."""

    question_id: str
    dimension: str
    label: str  # The Chinese name of the label.
    annotator: str  # `lexicon`, `llm:gpt-4o`, `human_accuracy` …
    confidence: float | None  # 0..1; null where the annotator states none.
    estimate: bool
    """True where the label stands in for something that was not measured (a model's guess of difficulty)."""
    prompt_hash: str | None = None
    model: str | None = None


class AnnotationRequest(Record):
    """One request to a model, answered or billed in vain, over all runs: five labels, one request."""

    question_id: str
    annotator: str
    prompt_hash: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    """Of the answer that is kept, 0 where there is none; in the currency of the price table; null when no price is
    configured."""
    unusable: int = 0  # Further calls that were billed and gave unusable answers.
    unusable_cost: float = 0.0
    unseen: int = 0  # Calls without an answer that may have been billed.
    unseen_cost: float = 0.0  # Highest possible cost of those calls.
    answered_by: str | None = None  # Name of the model as the reply has it; null where it has none.


class ExpertReview(Record):
    """An expert's label, as pulled from Label Studio."""

    question_id: str
    dimension: str
    label: str
    reviewer: str
    origin: str | None  # `prediction` (accepted), `prediction-changed`, `manual`; null where unknown.
    flags: list[str]  # `wrong_stem`, `wrong_key`, `out_of_scope`.
    note: str | None
    annotation_id: int
    updated_at: str
    project: str = "review"  # `review`, or `adjudication`: where a third expert rules, who has seen both labels.
    batch: int | None = None  # The batch in which the question was sent, from 1.
    blind: bool | None = None  # True where no label was filled in beforehand, to measure anchoring.
    seconds: float | None = None  # Time that the expert spent on the question, as the screen measured it.
    shown: str | None = None  # The label that was filled in when the expert answered; null where that is unknown.
    shown_by: str | None = None  # The annotator whose label that was.
    asked: str | None = None  # Hash of the text and key that the expert saw; null where that is unknown.


class CorrectionStatus(StrEnum):
    """Status of a correction."""

    ACCEPTED = "accepted"  # Two experts say the same, or one who decides alone made it: the clean stage applies it.
    PROPOSED = "proposed"  # One expert says so: it waits for another, or for the adjudicator.
    DECLINED = "declined"  # The adjudicator saw the question and left this as it was, or decided otherwise.


class Correction(Record):
    """A change that a person makes to one field of a question."""

    question_id: str
    content_hash: str
    """Content hash of the question when it was corrected; a patch is never applied to another text unseen."""
    field: str  # `stem`, `shared_stem`, `option:A` …, `answer`, `explanation`, or `verdict`: `keep` or `drop`.
    before: str | None  # Previous text; null if there was none.
    after: str | None  # New text; null removes the field.
    by: str  # Name of the person.
    origin: str  # Origin: `review`, `adjudication`, `verification`.
    note: str | None
    annotation_id: int
    updated_at: str
    status: CorrectionStatus


class SettledDoubt(Record):
    """A decision on a waiting question, for one of its reasons."""

    question_id: str
    reason: str
    document: str
    decision: str  # `keep`, `correct`, `drop`; of these `keep` says that it was right as it stood.
    by: str
    at: str


class ShownLabel(Record):
    """A label that was filled in on the experts' screen from some moment on."""

    question_id: str
    dimension: str
    shown: str
    shown_by: str
    since: str


class AskedQuestion(Record):
    """A question as experts saw it from some moment on."""

    question_id: str
    version: str  # Hash of its text and its key.
    since: str
    stem: str
    shared_stem: str | None
    options: list[Option]
    answer: list[str] | None


class LabelStatus(StrEnum):
    """Trustworthiness of a label."""

    UNREVIEWED = "unreviewed"  # No expert has looked; the label is the annotator's.
    SINGLE = "single"  # One expert has looked; waiting for the second.
    AGREED = "agreed"
    DISPUTED = "disputed"  # Experts disagree; no final label yet, the label is null.
    ADJUDICATED = "adjudicated"


class Label(Record):
    """The final label of a question in one dimension, and its status."""

    question_id: str
    dimension: str
    label: str | None
    label_en: str | None
    status: LabelStatus
    annotator: str | None  # Name of the annotator if no expert gave the label.
    estimate: bool
    reviewers: list[str]


class Agreement(Record):
    """Agreement of experts on a dimension, or of experts with an annotator."""

    dimension: str
    label: str | None  # The label that is compared with all others; null for all labels of the dimension together.
    reviewers: str  # `a & b` for a pair, `all` for all, `experts & llm:…` for experts against an annotator.
    slice: str | None
    """``batch 1``, ``week 2026-W48``, ``blind``, ``prefilled``; for experts against an annotator also ``accepted``,
    ``changed``, ``manual``; null for everything."""
    items: int  # Questions judged by at least two; for a label, those of them where somebody chose it.
    raw: float | None  # Share of equal pairs; for a label, how often a second expert chose it where a first one did.
    raw_low: float | None
    raw_high: float | None
    kappa: float | None  # Cohen's kappa (a pair); null where undefined.
    kappa_low: float | None
    kappa_high: float | None
    alpha: float | None  # Krippendorff's alpha, nominal.
    alpha_low: float | None
    alpha_high: float | None  # 95 % bootstrap intervals over questions.
    ac1: float | None = None  # Gwet's AC1: not pulled down where one label prevails.
    ac1_low: float | None = None
    ac1_high: float | None = None


class Calibration(Record):
    """An annotator against a reference in one dimension: the experts, or another annotator."""

    annotator: str
    reference: str  # `experts`, or the name of another annotator.
    dimension: str
    items: int  # Questions that both labelled.
    same: int  # Questions with the same label from both.
    accuracy: float
    low: float
    high: float  # 95 % interval of `accuracy` (Wilson).
    kappa: float | None  # Cohen's; null where undefined.
    calibration_error: float | None
    """Mean distance of confidence from accuracy over ten bins; null where the annotator states no confidence."""
    cost_per_correct: float | None
    """Of a label that the experts share, in the currency of the annotate stage; null where unknown."""
    threshold: float | None
    """Least confidence from which labels are as often right as wanted, by the lower end of the interval."""
    accepted: float | None  # Share of labels with at least that confidence, which experts need not check.


class Confusion(Record):
    """Labels that an annotator gives where the reference has others."""

    annotator: str
    reference: str
    dimension: str
    said: str
    expected: str
    items: int


class ReliabilityBin(Record):
    """Labels of about the same confidence, and how often they are right."""

    annotator: str
    dimension: str
    low: float
    high: float  # The bin of confidence, `low` exclusive but for 0.
    items: int
    confidence: float  # Mean.
    accuracy: float
