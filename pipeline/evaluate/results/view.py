"""Scores looked up by run, slice and metric, written as cells, with names in both languages."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from build_dataset.pipeline.evaluate.scoring import HUMAN, OVERALL, dimension_names
from build_dataset.pipeline.rendering.tables import Cell, Table
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.evaluation import Comparison, Score, Task

REFERENCES = (HUMAN, "random", "majority")  # runs to compare models with; they are never the best
WORDS = shipped_toml("build_dataset.pipeline.evaluate.results", "tables.toml")
"""Names, captions and heads of tables, notes."""


def run_name(run: str) -> str:
    """A run as tables call it."""
    return str(WORDS["runs"].get(run, run))


def prompt_name(prompt: str) -> str:
    """A template as tables call it; one of the user's own by its file."""
    return str(WORDS["prompts"].get(prompt, prompt.rpartition("/")[2]))


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
