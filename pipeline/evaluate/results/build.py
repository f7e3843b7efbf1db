"""All tables of an evaluation, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.evaluate.results import between, cmb, cmexam, judged
from pipeline.evaluate.results.names import title
from pipeline.evaluate.results.settings import Asking, from_facts
from pipeline.evaluate.results.view import View
from pipeline.evaluate.scoring import HUMAN
from pipeline.evaluate.slices import REVIEWED
from pipeline.rendering.tables import Table
from schemas.evaluation import Comparison, JudgeAgreement, Judgement, Preference, Score, Task
from schemas.taxonomy import dimensions
from schemas.wording import Notice

_CLINICAL = "Clinical answers 病例问答 (CMB-Clin), in percent, against the reference solutions."


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation left behind."""

    scores: Sequence[Score]
    comparisons: Sequence[Comparison] = ()
    preferences: Sequence[Preference] = ()
    agreement: Sequence[JudgeAgreement] = ()
    judgements: Sequence[Judgement] = ()
    askings: Mapping[str, Asking] = field(default_factory=dict)
    more_than: Mapping[str, int] = field(default_factory=lambda: dict(cmexam.MINIMUM))
    """Labels of a dimension with so many questions or fewer stay out of its table."""

    def __post_init__(self) -> None:
        """Runs of which nothing else is known are models of their own."""
        runs = list(dict.fromkeys(score.run for score in self.scores))
        object.__setattr__(self, "askings", from_facts({}, runs) | dict(self.askings))


def groups(found: Evaluated) -> list[tuple[str, list[tuple[str, Table]]]]:
    """Every table with its title, by what it is about; those without content are absent."""
    answers = View(found.scores)
    texts = View(found.scores, Task.EXPLANATION)
    clinical = View(found.scores, Task.CLINICAL)

    def by(name: str) -> tuple[str, Table | None]:
        return title(name), cmexam.by_dimension(answers, name, found.more_than.get(name, 0))

    made: dict[str, list[tuple[str, Table | None]]] = {
        "作答 Answers": [
            ("总体 Overall", cmexam.overall(answers)),
            ("两两比较 Pairs of models", between.pairs(found.comparisons)),
            ("考试类别 Exam categories", cmb.categories(answers, found.askings)),
            ("考试 Exam subcategories", cmb.subcategories(answers)),
            *map(by, ("exam_subject", "question_type", "length")),
            ("排名相关 Rankings compared", between.settings(found.scores, found.askings)),
        ],
        "按标签 By label": [*map(by, dimensions()), by("label_status")],
        "自由作答 Free text": [
            ("解析 Explanations", cmexam.explanations(texts)),
            ("病例 Clinical answers", _clinical(clinical)),
            (
                "解析评分 Judged explanations",
                judged.judged(found.scores, Task.EXPLANATION, "judged_explanations"),
            ),
            ("病例评分 Judged clinical answers", judged.judged(found.scores, Task.CLINICAL, "cmb_table5")),
            ("评分一致性 Agreement of judges", judged.agreement(found.agreement)),
            ("优选 Preferences", judged.preferences(found.preferences)),
        ],
    }
    kept = {
        group: [(name, table) for name, table in entries if table is not None]
        for group, entries in made.items()
    }
    return [(group, entries) for group, entries in kept.items() if entries]


def tables(found: Evaluated) -> list[tuple[str, Table]]:
    """Every table with its title, in the order in which they are shown."""
    return [entry for _, entries in groups(found) for entry in entries]


def _clinical(view: View) -> Table | None:
    table = cmexam.explanations(view)
    return None if table is None else table.renamed("cmb_clin_texts", _CLINICAL)


def unreviewed(scores: Sequence[Score]) -> Notice | None:
    """A warning where labels that the tables go by were not settled by experts."""
    asked: dict[str, int] = {}
    for score in scores:
        if score.dimension == "label_status" and score.metric == "accuracy" and score.run != HUMAN:
            asked[score.label_en or ""] = max(score.questions, asked.get(score.label_en or "", 0))
    open_ = sum(count for status, count in asked.items() if status != REVIEWED)
    if not open_:
        return None
    return Notice(
        f"Labels that experts have not settled: {open_} of {sum(asked.values())} questions have such. "
        "Tables by label rest on them; the table by label status shows reviewed questions apart.",
        f"{sum(asked.values())} 道题中有 {open_} 道的标签未经专家审定，按标签的各表以此为据；"
        "按标签状态的表把已审核的题目分开列出。",
    )
