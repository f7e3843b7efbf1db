"""All tables of an evaluation in their order, as files, Markdown and text; charts: accuracy by label and length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.results import papers
from build_dataset.pipeline.evaluate.results.papers import LABELLED
from build_dataset.pipeline.evaluate.results.view import REFERENCES, WORDS, View, cell, run_name, title, value
from build_dataset.pipeline.evaluate.scoring import HUMAN, REVIEWED
from build_dataset.pipeline.rendering.figures import Bar, Chart, svg
from build_dataset.pipeline.rendering.markdown import rendered
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task
from build_dataset.schemas.taxonomy import dimensions
from build_dataset.schemas.wording import Notice, counted


@dataclass(frozen=True)
class Evaluated:
    """Results of an evaluation."""

    scores: Sequence[Score]
    comparisons: Sequence[Comparison] = ()
    agreement: Sequence[JudgeAgreement] = ()
    askings: Mapping[str, RunSettings] = field(default_factory=dict)
    more_than: Mapping[str, int] = field(default_factory=lambda: WORDS["cmexam_more_than"])
    """Labels of a dimension with so many questions or fewer stay out of its table."""

    def __post_init__(self) -> None:
        """A run without further facts is a model of its own."""
        alone = {score.run: RunSettings(score.run) for score in self.scores}
        object.__setattr__(self, "askings", alone | dict(self.askings))


def table_groups(results: Evaluated) -> list[tuple[str, list[tuple[str, Table]]]]:
    """Every table with its title, by what it is about; those without content are absent."""
    answers = View(results.scores)
    texts, cases = (View(results.scores, task) for task in (Task.EXPLANATION, Task.CLINICAL))

    def by(name: str) -> tuple[str, Table | None]:
        return title(name), papers.by_dimension(answers, name, results.more_than.get(name, 0))

    made: dict[str, list[tuple[str, Table | None]]] = {
        "作答 Answers": [
            ("总体 Overall", papers.by_metric(answers, "answers", "cmexam_table3")),
            ("两两比较 Pairs of models", papers.pairs(results.comparisons)),
            ("考试类别 Exam categories", papers.categories(answers)),
            *map(by, ("exam_class", "exam_subject", "question_type", "length")),
            ("排名相关 Rankings compared", papers.settings(results.scores, results.askings)),
        ],
        "按标签 By label": [*map(by, dimensions()), by("label_status")],
        "自由作答 Free text": [
            ("解析 Explanations", papers.by_metric(texts, "texts", "cmexam_table3_explanations")),
            ("病例 Clinical answers", papers.by_metric(cases, "texts", "cmb_clin_texts")),
            ("解析评分 Judged explanations", papers.judged(results.scores, Task.EXPLANATION, "judged_explanations")),
            ("病例评分 Judged clinical answers", papers.judged(results.scores, Task.CLINICAL, "cmb_table5")),
            ("评分一致性 Agreement of judges", papers.agreement(results.agreement)),
        ],
    }
    filled = ((group, [(name, table) for name, table in each if table is not None]) for group, each in made.items())
    return [(group, entries) for group, entries in filled if entries]


def tables(results: Evaluated) -> list[tuple[str, Table]]:
    """Every table with its title, in the order in which they are shown."""
    return [entry for _, entries in table_groups(results) for entry in entries]


def unreviewed_warning(scores: Sequence[Score]) -> Notice | None:
    """Return a warning if the tables use labels that experts have not settled."""
    view = View(score for score in scores if score.run != HUMAN)
    labels = view.labels("label_status").items()
    asked = {english: view.asked("label_status", label) for label, english in labels}
    counts = {"open": sum(asked.values()) - asked.get(REVIEWED, 0), "asked": sum(asked.values())}
    texts = (WORDS["unreviewed"][name].format(**counts) for name in ("english", "chinese"))
    return Notice(*texts) if counts["open"] else None


NOTES = WORDS["notes"]["under_title"].strip()  # notes on how to read the tables


def markdown(results: Evaluated, title: str) -> str:
    """All tables as one Markdown document."""
    values = {"doubt": unreviewed_warning(results.scores), "tables": tables(results), "notes": WORDS["notes"]}
    asked = bool(results.scores)
    return rendered("build_dataset.pipeline.evaluate:results.md", title=title, asked=asked, **values).rstrip() + "\n"


def files(results: Evaluated) -> Mapping[str, bytes]:
    """Every table as Parquet, CSV, Markdown and LaTeX, by path."""
    return {name: data for _, table in tables(results) for name, data in table.files().items()}


def headlines(scores: Sequence[Score]) -> list[str]:
    """One line a run: its accuracy."""
    view = View(scores)
    lines = []
    for run in view.runs:
        if (score := view.accuracy(run)) is not None:
            asked = counted(score.questions, "question")
            lines.append(f"{run}: accuracy {cell(score)} % of {asked}")
    return lines


MOST_RUNS = 6  # Models drawn side by side; more cannot be told apart. The best are drawn, and tables hold them all.


def plots(results: Evaluated) -> dict[str, bytes]:
    """Return the chart of accuracy by label and by question length (CMExam's figure 3) beside each table's name."""
    view = View(results.scores)
    runs = _drawn(view, results)
    known = filter(view.labels, (*LABELLED, "length"))  # a label set of one's own has other dimensions
    charts = {name: _chart(view, runs, name, results.more_than.get(name, 0)) for name in known}
    return {name: svg(chart) for name, chart in charts.items() if runs and chart.labels}


def _drawn(view: View, results: Evaluated) -> list[str]:
    """Models by accuracy, the best first, each as it was asked best; baselines where there are none; people last."""
    scored = [run for run in view.runs if run != HUMAN and view.overall(run, "accuracy")]
    models = [run for run in scored if run not in REFERENCES] or scored
    best: dict[str, str] = {}
    for run in sorted(models, key=lambda run: -(value(view.accuracy(run)) or 0.0)):
        best.setdefault(results.askings[run].model, run)
    return [*[*best.values()][:MOST_RUNS], *([HUMAN] if HUMAN in view.runs else [])]


def _chart(view: View, runs: Sequence[str], dimension: str, more_than: int) -> Chart:
    """Accuracy of every run in every label that has enough questions, with 95 % intervals."""
    sizes = {label: size for label in view.labels(dimension) if (size := view.asked(dimension, label)) > more_than}
    names = [f"{label}  n = {size:,}" for label, size in sizes.items()]
    series = {run_name(run): [_bar(view.accuracy(run, dimension, label)) for label in sizes] for run in runs}
    return Chart(f"{title(dimension)}: accuracy 准确率", names, series)


def _bar(score: Score | None) -> Bar | None:
    if score is None or score.value is None:
        return None
    low, high = (None if end is None else 100 * end for end in (score.low, score.high))
    return 100 * score.value, low, high
