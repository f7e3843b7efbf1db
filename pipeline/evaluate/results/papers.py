"""CMExam's tables 3 to 8 (Liu et al. 2023) and CMB's 3 to 8 (Wang et al. 2023), of any dataset and any models.

Scores are looked up by run, slice and metric, and written as cells, with names in both languages.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import mean as mean_of

import polars as pl

from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate import grading
from build_dataset.pipeline.evaluate.judging.scores import AVERAGE
from build_dataset.pipeline.evaluate.metrics import Over, metric, shown_in
from build_dataset.pipeline.evaluate.scoring import HUMAN, OVERALL, dimension_names
from build_dataset.pipeline.rendering.markup import number
from build_dataset.pipeline.rendering.tables import Cell, Table
from build_dataset.pipeline.stats import ranking
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.evaluation import Comparison, JudgeAgreement, Score, Task
from build_dataset.schemas.wording import counted

REFERENCES = (HUMAN, "random", "majority")  # runs to compare models with; they are never the best
WORDS = shipped_toml("build_dataset.pipeline.evaluate.results", "tables.toml")
"""Names, captions and heads of tables, notes."""


def run_name(run: str) -> str:
    """A run as tables call it."""
    return str(WORDS["runs"].get(run, run))


def prompt_name(prompt: str) -> str:
    """A template as tables call it; one of the user's own by its file."""
    return str(WORDS["prompts"].get(prompt, prompt.rpartition("/")[2]))


def manner(asked: grading.RunSettings) -> str:
    """The manner in which a run was asked."""
    return " · ".join(filter(None, (prompt_name(asked.prompt), f"{asked.shots}-shot", f"T = {asked.temperature:g}")))


def plot_name(text: str) -> str:
    """A name in a plot, where it must begin no formula."""
    return text.replace("$", r"\$")


def title(dimension: str) -> str:
    """``疾病类别 Disease group``."""
    return dimension_names()[dimension]


def label_name(label: str, english: str | None) -> str:
    """A label in both languages."""
    return label if english is None or english == label else f"{label} {english}"


class View:
    """The scores of one task."""

    def __init__(self, scores: Iterable[Score], task: Task = Task.ANSWER) -> None:
        self.scores: Sequence[Score] = [score for score in scores if score.task is task]
        self._found: dict[tuple[str, str, str, str], Score] = {}
        self._labels: dict[str, dict[str, str | None]] = {}
        self._runs: dict[str, set[str]] = {}
        self._asked: dict[tuple[str, str], int] = {}
        for score in self.scores:
            part = (score.dimension, score.label)
            self._found[score.run, *part, score.metric] = score
            self._labels.setdefault(score.dimension, {})[score.label] = score.label_en
            self._runs.setdefault(score.dimension, set()).add(score.run)
            if score.metric == "accuracy":
                # some requests of a run may have failed
                self._asked[part] = max(score.questions, self._asked.get(part, 0))

    @cached_property
    def runs(self) -> list[str]:
        """In the scores' order: models as configured, then people; incomplete runs at the end."""
        return sorted(dict.fromkeys(score.run for score in self.scores), key=lambda run: run in self.incomplete)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """The questions that each run was asked in all."""
        overall = sorted((s.run, s.questions) for s in self.scores if s.dimension == OVERALL.dimension)
        return dict(overall)  # the most, where metrics differ

    @cached_property
    def incomplete(self) -> Mapping[str, int]:
        """Models that were asked less than others, as requests failed, and how many others were asked."""
        models = {run: size for run, size in self.sizes.items() if run not in REFERENCES}
        whole = max(models.values(), default=0)
        return {run: whole for run, size in models.items() if size < whole}

    def name(self, run: str) -> str:
        """A run as tables call it, which says where it is incomplete."""
        whole = self.incomplete.get(run)
        return run_name(run) + (f" · 未完成 incomplete, of {whole:,}" if whole else "")

    def overall(self, run: str, metric: str) -> Score | None:
        """A score over everything that was asked; None where there is none."""
        return self._found.get((run, OVERALL.dimension, OVERALL.label, metric))

    def accuracy(self, run: str, dimension: str = OVERALL.dimension, label: str = OVERALL.label) -> Score | None:
        """A run's accuracy; None where there is none."""
        return self._found.get((run, dimension, label, "accuracy"))

    def labels(self, dimension: str) -> dict[str, str | None]:
        """The labels of a dimension in order, with their English names."""
        return self._labels.get(dimension, {})

    def runs_of(self, dimension: str) -> list[str]:
        """Runs that have scores in a dimension."""
        return [run for run in self.runs if run in self._runs.get(dimension, ())]

    def asked(self, dimension: str, label: str) -> int:
        """Questions of a label that a run was asked, the most if they differ."""
        return self._asked.get((dimension, label), 0)

    def data(self, dimensions: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
        """The numbers behind a table: a row a run, label and metric."""
        scores = (score for score in self.scores if score.dimension in dimensions)
        return Score.to_frame(score for score in scores if score.metric in metrics)


def cell(score: Score | None, questions: int | None = None, places: int = 1, scale: int = 100) -> str:
    """A share in percent: ``61.6 ± 0.1 [60.4, 62.8]``; a dash where there is none.

    ± is the standard deviation over repetitions, brackets hold the 95 % interval. Where the score is of fewer
    ``questions`` than its row that is said too; ``scale`` is 1 for figures that are no shares.
    """
    if score is None or score.value is None:
        return "–"
    text = bracketed(mean(score, places, scale), score, f".{places}f", scale)
    return text if questions in (None, score.questions) else f"{text} (n = {score.questions:,})"


def bracketed(text: str, figure: Score | Comparison, form: str, scale: int = 100) -> str:
    """A figure with its 95 % interval behind it, where there is one."""
    if figure.low is None or figure.high is None:
        return text
    return f"{text} [{scale * figure.low:{form}}, {scale * figure.high:{form}}]"


def mean(score: Score | None, places: int = 1, scale: int = 100) -> str:
    """The same without its interval."""
    if score is None or score.value is None:
        return "–"
    # a run that was asked once has no deviation
    spread = "" if score.sd is None else f" ± {scale * score.sd:.{places}f}"
    return f"{scale * score.value:.{places}f}{spread}"


def p_value(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


@dataclass(frozen=True)
class Rival:
    """A cell that is compared with the others of its line."""

    text: str
    line: Hashable
    run: str
    value: float | None  # the higher, the better


def ranked_table(
    name: str,
    data: pl.DataFrame,
    head: Sequence[str],
    rows: Sequence[Sequence[str | Rival]],
    *,
    left: int = 1,
    caption: str | None = None,
    apart: Iterable[str] = (),
) -> Table:
    """Return a table with the best cell of every line marked.

    Its words in ``tables.toml`` are the first part of its head, and its caption where none is given. Baselines,
    people and runs that stand ``apart`` do not compete; a line with fewer than two models has no best, equals
    share it.
    """
    lines: dict[Hashable, list[tuple[Cell, float]]] = {}
    for at, row in enumerate(rows):
        for column, each in enumerate(row):
            if isinstance(each, Rival) and each.value is not None and each.run not in (*REFERENCES, *apart):
                lines.setdefault(each.line, []).append(((at, column), each.value))
    differing = (cells for cells in lines.values() if len({value for _, value in cells}) > 1)  # else none is the best
    tops = ((cells, max(value for _, value in cells)) for cells in differing)
    best = frozenset(place for cells, top in tops for place, value in cells if value == top)
    texts = [tuple(each if isinstance(each, str) else each.text for each in row) for row in rows]
    words = WORDS.get(name, {})
    caption = words["caption"] if caption is None else caption
    return Table(name, caption, data, [*words.get("head", ()), *head], texts, left, best)


def value(score: Score | None) -> float | None:
    """The number of a score that may be missing."""
    return None if score is None else score.value


LABELLED: Mapping[str, int] = WORDS["cmexam_tables"]  # Number of the table that each dimension has in the paper.


def by_metric(view: View, table: Over, name: str) -> Table | None:
    """Table 3: a row a run, a column a metric of a table; None where no question was asked."""
    wanted = shown_in(table)
    runs = [run for run in view.runs if any(view.overall(run, each.name) for each in wanted)]
    metrics = [each for each in wanted if any(view.overall(run, each.name) for run in runs)]
    if not runs:
        return None
    rows: list[list[str | Rival]] = []
    for run in runs:
        row: list[str | Rival] = [view.name(run), number(view.sizes[run])]
        for each in metrics:
            score = view.overall(run, each.name)
            text = cell(score, view.sizes[run]) if each.brackets else mean(score)
            merit = value(score)
            if merit is not None and not each.higher:
                merit = -merit  # fewer is better
            row.append(text if each.higher is None else Rival(text, each.name, run, merit))
        rows.append(row)
    data = view.data(["overall"], [each.name for each in metrics])
    return ranked_table(name, data, [each.title for each in metrics], rows, apart=view.incomplete)


def by_dimension(view: View, dimension: str, more_than: int = 0) -> Table | None:
    """Tables 4 to 8, and the like for any other dimension: a row a label, a column a run; None without labels."""
    labels, runs = view.labels(dimension), view.runs_of(dimension)
    if not labels:
        return None
    kept = {label: en for label, en in labels.items() if view.asked(dimension, label) > more_than} or labels
    rows: list[list[str | Rival]] = []
    for label, english in kept.items():
        asked = view.asked(dimension, label)
        scored = ((run, view.accuracy(run, dimension, label)) for run in runs)
        cells = (Rival(cell(score, asked), label, run, value(score)) for run, score in scored)
        rows.append([label_name(label, english), number(asked), *cells])
    head = [title(dimension), "题数 n", *map(view.name, runs)]
    models = [run for run in runs if run not in (*REFERENCES, *view.incomplete)]
    if len(models) > 1:  # one model is its own average
        head.append("平均 Average of models")
        for row in rows:
            rivals = (each for each in row if isinstance(each, Rival) and each.run in models)
            row.append(_average([each.value for each in rivals if each.value is not None], 1))
    paper = f" (CMExam's table {LABELLED[dimension]})" if dimension in LABELLED else ""
    caption = f"Accuracy by {title(dimension)}{paper}."
    if left_out := len(labels) - len(kept):
        count = counted(left_out, "label")
        caption += f" Left out, with {more_than} questions or fewer: {count}; see the data beside this table."
    if HUMAN in runs:
        caption += " People are those who sat the exam."
    shared = view.data([dimension], ["accuracy"])
    return ranked_table(table_name(dimension), shared, head, rows, caption=caption, apart=view.incomplete)


def _average(shares: Sequence[float], places: int) -> str:
    return f"{100 * mean_of(shares):.{places}f}" if shares else "–"


def table_name(dimension: str) -> str:
    """Return the name of the files of a dimension's table."""
    return f"cmexam_table{LABELLED[dimension]}" if dimension in LABELLED else f"by_{dimension}"


def categories(view: View) -> Table | None:
    """Tables 3 and 4: a row a run, a column a category; None where no exam is stated."""
    labels = view.labels("exam_type")
    if not labels:
        return None
    rows: list[list[str | Rival]] = []
    for run in view.runs_of("exam_type"):
        scores = [view.accuracy(run, "exam_type", label) for label in labels]
        known = [share for score in scores if (share := value(score)) is not None]
        # An average over fewer categories would describe another exam than the other rows.
        known = known if len(known) == len(labels) else []
        *parts, whole = ((mean(score, 2), value(score)) for score in (*scores, view.accuracy(run)))
        cells = [*parts, (_average(known, 2), mean_of(known) if known else None), whole]
        rivals = (Rival(text, column, run, merit) for column, (text, merit) in enumerate(cells))
        rows.append([view.name(run), *rivals])
    names = [label_name(label, english) for label, english in labels.items()]
    head = [*names, "平均 Average", "全部题目 All questions"]
    data = view.data(["exam_type", "overall"], ["accuracy"])
    return ranked_table("cmb_table3", data, head, rows, apart=view.incomplete)


def pairs(comparisons: Sequence[Comparison]) -> Table | None:
    """Every two runs on the questions both were asked: the difference, and its test."""
    rows = [
        (
            *map(run_name, (row.run_a, row.run_b)),
            *map(number, (row.questions, row.only_a_right, row.only_b_right)),
            bracketed(f"{100 * row.difference:+.1f}", row, "+.1f"),
            *map(p_value, (row.p_value, row.p_adjusted)),
        )
        for row in comparisons
    ]
    # the column of the difference
    sure = frozenset((at, 5) for at, row in enumerate(comparisons) if row.p_adjusted < 0.05)
    return _table("pairs", Comparison.to_frame(comparisons), rows, left=2, best=sure)


def settings(scores: Sequence[Score], askings: Mapping[str, grading.RunSettings]) -> Table | None:
    """CMB's table 7: whether models come in the same order however they are asked; None with fewer than three."""
    rows = []
    measures: dict[str, dict[str, dict[str, float]]] = {}  # that rank models: by name, setting and model
    for score in scores:
        judged = score.metric.startswith("judged (")
        ranks = score.dimension == "overall" and (judged or score.metric == "accuracy")
        if not ranks or score.run in REFERENCES or score.value is None:
            continue
        called = f"平均评分 Mean score{score.metric.removeprefix('judged')}" if judged else metric("accuracy").title
        asked = askings[score.run]
        measures.setdefault(called, {}).setdefault(manner(asked), {}).setdefault(asked.model, score.value)
    for name, by_setting in measures.items():
        for one, other in combinations(by_setting, 2):
            shared = [model for model in by_setting[one] if model in by_setting[other]]
            correlation = ranking(*([by_setting[each][model] for model in shared] for each in (one, other)))
            if correlation is not None:
                rows.append((name, one, other, len(shared), correlation))
    names = ("score", "setting_a", "setting_b", "models", "rank_correlation")
    cells = [(*texts, number(models), number(correlation, 3)) for *texts, models, correlation in rows]
    return _table("cmb_table7", pl.DataFrame(rows, schema=names, orient="row"), cells)


def aspect_titles(average: str) -> dict[str, str]:
    """Return the titles of CMB's aspects by name, and that of their average."""
    return {aspect.name: f"{aspect.zh} {aspect.en}" for aspect in aspects()} | {average: "平均 Average"}


def judged(scores: Sequence[Score], task: Task, name: str) -> Table | None:
    """Tables 5, 6 and 8: what a judge gave, from 1 to 5, an aspect a column; None where nothing was judged."""
    columns = aspect_titles("judged")
    by_run: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        metric, _, who = score.metric.partition(" (")
        if score.task is task and who and metric in columns:
            by_run.setdefault((who.rstrip(")"), score.run), {})[metric] = score
    rows: list[list[str | Rival]] = []
    for (who, run), given in by_run.items():
        asked = max(score.questions for score in given.values())
        scored = ((part, given.get(part)) for part in columns)
        grades = (Rival(cell(s, places=2, scale=1), (who, part), run, value(s)) for part, s in scored)
        rows.append([run_name(run), "专家 experts" if who == "experts" else who, number(asked), *grades])
    data = Score.to_frame([score for given_scores in by_run.values() for score in given_scores.values()])
    return ranked_table(name, data, list(columns.values()), rows, left=2) if rows else None


def _table(
    name: str, frame: pl.DataFrame, rows: Sequence[tuple[str, ...]], left: int = 3, best: frozenset[Cell] = frozenset()
) -> Table | None:
    """Return a table with its words from ``tables.toml``; None without rows."""
    words = WORDS[name]
    return Table(name, words["caption"], frame, words["head"], rows, left=left, best=best) if rows else None


def agreement(agreements: Sequence[JudgeAgreement]) -> Table | None:
    """Return the agreement of judges with experts by aspect (the paper's section 5.3)."""
    names = aspect_titles(AVERAGE)
    rows = [
        (
            *(row.judge, names.get(row.aspect, row.aspect), number(row.answers)),
            *(number(figure, 3) for figure in (row.pearson, row.spearman, row.alpha)),
            *(number(row.models), number(row.ranking, 3)),
        )
        for row in agreements
    ]
    return _table("judge_agreement", JudgeAgreement.to_frame(agreements), rows)
