"""The catalogue of stages, in order. The commands, ``run``, ``status`` and the docs come from this list."""

from annotation.params import AnnotateParams, CalibrateParams, ReviewParams
from pipeline.audit.params import AuditParams
from pipeline.clean.params import CleanParams
from pipeline.dedup.params import DedupParams
from pipeline.evaluate.params import EvaluateParams
from pipeline.export.params import ExportParams
from pipeline.leaks.params import LeaksParams
from pipeline.ocr.params import OcrParams
from pipeline.parse.params import ParseParams
from pipeline.report.params import ReportParams
from pipeline.split.params import SplitParams
from pipeline.stage import Stage
from schemas import annotations, evaluation
from schemas.documents import Document, Line, Page, SourceRow, Trace
from schemas.questions import SPLITS, Assignment, Cluster, Merge, Question, TextChange
from schemas.release import BenchmarkFile, Change, Leak, ReleaseRow


def _tables(stage: str, names: str) -> tuple[str, ...]:
    return tuple(f"{stage}/{name}" for name in names.split())


STAGES: tuple[Stage, ...] = (
    Stage(
        name="ocr",
        title="Read every file: sound text layers as they are, scans by OCR, tables row by row.",
        unit="files",
        reads=("raw/files",),
        writes={"documents": Document, "pages": Page, "lines": Line, "rows": SourceRow},
        params=OcrParams,
        target="pipeline.ocr.stage:run",
        parallel=True,
        check="pipeline.ocr.engines:problems",
        examples=("ocr", "ocr --engine paddleocr"),
    ),
    Stage(
        name="parse",
        title="Cut the text into questions with options, answers and explanations.",
        unit="items",
        reads=("ocr/documents", "ocr/pages", "ocr/lines", "ocr/rows", "releases/ids"),
        writes={"questions": Question, "traces": Trace},
        params=ParseParams,
        target="pipeline.parse.stage:run",
        parallel=True,
        check="pipeline.parse.stage:problems",
    ),
    Stage(
        name="clean",
        title="Remove questions that need a figure or table, and invalid ones, with reasons.",
        unit="questions",
        reads=("parse/questions", "parse/review", "reviews/corrections"),
        writes={"questions": Question, "changes": TextChange, "corrections": annotations.Correction},
        params=CleanParams,
        target="pipeline.clean.stage:run",
    ),
    Stage(
        name="dedup",
        title="Merge duplicates; keep questions that only look alike.",
        unit="questions",
        reads=("clean/questions",),
        writes={"questions": Question, "merges": Merge, "clusters": Cluster},
        params=DedupParams,
        target="pipeline.dedup.stage:run",
    ),
    Stage(
        name="annotate",
        title="Label every question with a language model, or offline.",
        unit="questions",
        reads=("dedup/questions", "reviews/pulled"),
        writes={"annotations": annotations.Annotation, "requests": annotations.AnnotationRequest},
        uses_labels=True,
        params=AnnotateParams,
        target="pipeline.annotate:run",
        examples=("annotate --dry-run", "annotate --batch", "annotate --annotator learned"),
        check="pipeline.annotate:problems",
    ),
    Stage(
        name="review",
        title="Compute final labels from the experts' reviews.",
        unit="questions",
        reads=("dedup/questions", "annotate/annotations", "reviews/pulled", "reviews/corrections"),
        writes={"labels": annotations.Label, "agreement": annotations.Agreement},
        uses_labels=True,
        params=ReviewParams,
        target="pipeline.review.stage:run",
    ),
    Stage(
        name="calibrate",
        title="Compare annotators with experts: accuracy, confidence, confusions, cost.",
        unit="questions",
        reads=("dedup/questions", "annotate/annotations", "annotate/requests", "reviews/pulled"),
        writes={
            "calibration": annotations.Calibration,
            "confusions": annotations.Confusion,
            "reliability": annotations.ReliabilityBin,
            "sharing": annotations.SharingPoint,
        },
        uses_labels=True,
        params=CalibrateParams,
        target="pipeline.calibrate.stage:run",
        examples=("calibrate", "calibrate --target 0.95"),
    ),
    Stage(
        name="split",
        title="Split into train, validation and test: stratified, without parting groups.",
        unit="questions",
        reads=("dedup/questions", "dedup/merges", "dedup/clusters", "review/labels", "releases/files"),
        writes={"assignments": Assignment},
        uses_labels=True,
        params=SplitParams,
        target="pipeline.split.stage:run",
        examples=("split", "split --method per_subcategory"),
    ),
    Stage(
        name="leaks",
        title="Find duplicates across splits and overlap with public benchmarks.",
        unit="questions",
        reads=("dedup/questions", "split/assignments"),
        writes={"leaks": Leak, "benchmarks": BenchmarkFile},
        params=LeaksParams,
        target="pipeline.leaks.stage:run",
        examples=("leaks", "leaks --benchmarks FOLDER"),
    ),
    Stage(
        name="export",
        title="Write the dataset: Parquet splits, dataset card, Croissant metadata, changes.",
        unit="questions",
        reads=(
            "clean/corrections",
            *_tables("dedup", "questions clusters merges"),
            *("review/labels", "split/assignments", "leaks/leaks", "leaks/benchmarks", "releases/files"),
        ),
        optional=("parse/questions",),
        writes={**dict.fromkeys(SPLITS, ReleaseRow), "changes": Change},
        uses_labels=True,
        params=ExportParams,
        target="pipeline.export.stage:run",
        names_dataset=True,
    ),
    Stage(
        name="evaluate",
        title="Ask models the test questions and score their answers.",
        unit="prompts",
        reads=("export/train", "export/validation", "export/test", "reviews/answer_scores"),
        writes={
            "predictions": evaluation.Prediction,
            "open_questions": evaluation.OpenQuestion,
            "scores": evaluation.Score,
            "comparisons": evaluation.Comparison,
            "judgements": evaluation.Judgement,
            "preferences": evaluation.Preference,
            "judge_agreement": evaluation.JudgeAgreement,
        },
        uses_labels=True,
        params=EvaluateParams,
        target="pipeline.evaluate.stage:run",
        check="pipeline.evaluate.stage:problems",
        examples=(
            "evaluate",
            "evaluate --model NAME --base-url http://127.0.0.1:8000/v1 --prompt chain_of_thought",
        ),
    ),
    Stage(
        name="audit",
        title="Find answer keys that are probably wrong.",
        unit="questions",
        reads=("dedup/questions", "dedup/merges", "dedup/review", "clean/corrections"),
        optional=("clean/questions", "evaluate/predictions"),
        writes={"items": evaluation.AuditItem, "respondents": evaluation.AuditRespondent},
        params=AuditParams,
        target="pipeline.audit.stage:run",
        parallel=True,
        names_dataset=True,
        examples=("audit", 'audit --answers "answers/*.jsonl"'),
    ),
    Stage(
        name="report",
        title="Write the HTML report: one page, with figures and tables.",
        unit="stages",
        reads=("build/manifests",),
        optional=(
            *("*/rejects", "*/review", "ocr/documents", "ocr/pages", "parse/questions"),
            *_tables("clean", "questions changes corrections"),
            *_tables("dedup", "merges clusters"),
            *("review/labels", "review/agreement", "calibrate/calibration"),
            *_tables("leaks", "leaks benchmarks"),
            *_tables("export", "train validation test changes"),
            *_tables("evaluate", "scores comparisons preferences judge_agreement"),
            *_tables("evaluate", "predictions open_questions judgements"),
        ),
        writes={},
        uses_labels=True,
        params=ReportParams,
        target="pipeline.report.stage:run",
        names_dataset=True,
    ),
)


def stage(name: str) -> Stage:
    """Return the stage of that name."""
    return {row.name: row for row in STAGES}[name]
