"""All tables of an evaluation in their order, as files, Markdown and text; plots: accuracy by label and length."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from build_dataset.pipeline.evaluate.grading import RunSettings
from build_dataset.pipeline.evaluate.results import papers
from build_dataset.pipeline.evaluate.scoring import HUMAN, REVIEWED
from build_dataset.pipeline.rendering.figures import COLOURS, INK, both_formats, figure
from build_dataset.pipeline.rendering.markup import rendered
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.pipeline.stats import Floats
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task
from build_dataset.schemas.taxonomy import dimensions
from build_dataset.schemas.wording import Notice, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Evaluated:
    """Results of an evaluation."""

    scores: Sequence[Score]
    comparisons: Sequence[Comparison] = ()
    agreement: Sequence[JudgeAgreement] = ()
    askings: Mapping[str, RunSettings] = field(default_factory=dict)
    more_than: Mapping[str, int] = field(default_factory=lambda: papers.WORDS["cmexam_more_than"])
    """Labels of a dimension with so many questions or fewer stay out of its table."""

    def __post_init__(self) -> None:
        """A run without further facts is a model of its own."""
        alone = {score.run: RunSettings(score.run) for score in self.scores}
        object.__setattr__(self, "askings", alone | dict(self.askings))


def table_groups(results: Evaluated) -> list[tuple[str, list[tuple[str, Table]]]]:
    """Every table with its title, by what it is about; those without content are absent."""
    answers = papers.View(results.scores)
    texts, cases = (papers.View(results.scores, task) for task in (Task.EXPLANATION, Task.CLINICAL))

    def by(name: str) -> tuple[str, Table | None]:
        return papers.title(name), papers.by_dimension(answers, name, results.more_than.get(name, 0))

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
    view = papers.View(score for score in scores if score.run != HUMAN)
    asked = {english: view.asked("label_status", label) for label, english in view.labels("label_status").items()}
    counts = {"open": sum(asked.values()) - asked.get(REVIEWED, 0), "asked": sum(asked.values())}
    texts = (papers.WORDS["unreviewed"][name].format(**counts) for name in ("english", "chinese"))
    return Notice(*texts) if counts["open"] else None


NOTES = papers.WORDS["notes"]["under_title"].strip()  # notes on how to read the tables


def markdown(results: Evaluated, title: str) -> str:
    """All tables as one Markdown document."""
    values = {"doubt": unreviewed_warning(results.scores), "tables": tables(results), "notes": papers.WORDS["notes"]}
    asked = bool(results.scores)
    return rendered("build_dataset.pipeline.evaluate:results.md", title=title, asked=asked, **values).rstrip() + "\n"


def files(results: Evaluated) -> Mapping[str, bytes]:
    """Every table as Parquet, CSV, Markdown and LaTeX, by path."""
    return {name: data for _, table in tables(results) for name, data in table.files().items()}


def headlines(scores: Sequence[Score]) -> list[str]:
    """One line a run: its accuracy."""
    view = papers.View(scores)
    known = ((run, score) for run in view.runs if (score := view.accuracy(run)) is not None)
    return [f"{run}: accuracy {papers.cell(score)} % of {counted(score.questions, 'question')}" for run, score in known]


MOST_RUNS = 6  # Models drawn side by side; more cannot be told apart. The best are drawn, and tables hold them all.
_LEGEND: dict[str, Any] = {"loc": "outside lower center", "ncols": 3, "fontsize": 8}
_NAME = 40  # characters of a run's name in a plot
_HUMAN = "#8a8f98"  # grey: people are no model


def plots(results: Evaluated) -> dict[str, bytes]:
    """``figures/<name>.svg`` and ``.png`` of every plot that has something to show."""
    view = papers.View(results.scores)
    runs = _drawn(view, results)
    if not runs:
        return {}
    files: dict[str, bytes] = {}
    for dimension in papers.LABELLED:
        files |= _bars(view, runs, dimension, results.more_than.get(dimension, 0))
    return files | _lengths(view, runs)


def _drawn(view: papers.View, results: Evaluated) -> list[str]:
    """Models by accuracy, the best first, each as it was asked best; baselines where there are none; people last."""
    scored = [run for run in view.runs if run != HUMAN and view.overall(run, "accuracy")]
    models = [run for run in scored if run not in papers.REFERENCES] or scored
    best: dict[str, str] = {}
    for run in sorted(models, key=lambda run: -(papers.value(view.accuracy(run)) or 0.0)):
        best.setdefault(results.askings[run].model, run)
    return [*[*best.values()][:MOST_RUNS], *([HUMAN] if HUMAN in view.runs else [])]


def _shares(view: papers.View, run: str, dimension: str, labels: Iterable[str]) -> Floats:
    """Accuracy in every label with the ends of its interval (labels × 3), in percent; NaN for what is not known."""
    scores = (view.accuracy(run, dimension, label) for label in labels)
    ends = [(score.value, score.low, score.high) if score else (None, None, None) for score in scores]
    return 100 * np.array(ends, dtype=float)


def _bars(view: papers.View, runs: Sequence[str], dimension: str, more_than: int) -> dict[str, bytes]:
    """Accuracy of every run in every label that has enough questions, with 95 % intervals."""
    labels = [label for label in view.labels(dimension) if view.asked(dimension, label) > more_than]
    if not labels:
        return {}
    height = 1.4 + len(labels) * (0.2 + 0.13 * len(runs))  # inches: a gap and a bar a run for each label
    with figure(8.0, height) as drawn:
        axes: Axes = drawn.subplots()
        thick = 0.84 / len(runs)  # of the space of a label; the rest parts it from the next
        for number, (run, colour) in enumerate(_coloured(runs)):
            places = [row + (number - (len(runs) - 1) / 2) * thick for row in range(len(labels))]
            shares = _shares(view, run, dimension, labels)
            axes.barh(places, shares[:, 0], height=0.9 * thick, color=colour, label=_shown(run))
            for place, (_, low, high) in zip(places, shares, strict=True):
                if not isnan(low):
                    axes.plot([low, high], [place, place], color=INK, linewidth=1.1)
        counts = {label: f"n = {view.asked(dimension, label):,}" for label in labels}
        known = dimensions().get(dimension)
        entries = {label: known.find(label) if known else None for label in labels}
        short = {label: f"{label} {entry.abbr}" if entry and entry.abbr else label for label, entry in entries.items()}
        names = [papers.plot_name(f"{short[label]}  {count}") for label, count in counts.items()]
        axes.set_yticks(range(len(labels)), names, color=INK)
        axes.set(xlim=(0, 100), ylim=(len(labels) - 0.4, -0.6), xlabel="accuracy 准确率, %")
        axes.set_title(papers.plot_name(papers.title(dimension)))
        axes.grid(visible=False, axis="y")
        drawn.legend(**_LEGEND)
        return both_formats(f"accuracy_by_{dimension}", drawn)


def _lengths(view: papers.View, runs: Sequence[str]) -> dict[str, bytes]:
    """CMExam's figure 3: accuracy by question length, intervals as bands."""
    labels = list(view.labels("length"))
    if len(labels) < 2:
        return {}
    with figure(7.6, 4.2) as drawn:
        axes: Axes = drawn.subplots()
        for run, colour in _coloured(runs):
            values, lows, highs = _shares(view, run, "length", labels).T
            axes.plot(range(len(labels)), values, color=colour, marker="o", markersize=3.5, label=_shown(run))
            axes.fill_between(range(len(labels)), lows, highs, color=colour, alpha=0.13, linewidth=0)
        counts = [f"{label}\nn = {view.asked('length', label):,}" for label in labels]
        axes.set_xticks(range(len(labels)), counts, fontsize=7.5)
        axes.set(ylim=(0, 100), xlabel="question length in characters 题目字数", ylabel="accuracy 准确率, %")
        drawn.legend(**_LEGEND)
        return both_formats("accuracy_by_length", drawn)


def _coloured(runs: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from zip([run for run in runs if run != HUMAN], COLOURS, strict=False)
    if HUMAN in runs:
        yield HUMAN, _HUMAN


def _shown(run: str) -> str:
    name = papers.run_name(run)
    return papers.plot_name(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")
