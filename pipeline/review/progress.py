"""Progress, pace and quality of each expert's work; its control by gold questions, whose labels are known.

Gold questions stand among the others and look like them. None reaches a final label: ``control.parquet`` takes their
answers out of the reviews.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf, sqrt
from pathlib import Path
from typing import NamedTuple

import polars as pl

from build_dataset.annotation import adjudication, lexicon_annotator
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.pipeline.stats import ENOUGH, Interval, Unit, interval_of_share
from build_dataset.schemas import annotations, identity
from build_dataset.schemas.questions import Question

QUICK = 5.0  # least seconds to read a question of 30 characters with five options and five labels
_MOST_QUICK, _MOST_ACCEPTED = 0.2, 0.99
"""Shares beyond which a coordinator should look: the best annotator measured is right in .83 of its labels, so a
careful reader does not accept 99 of 100."""
_FILLED_IN = ("prediction", "prediction-changed")  # origins of labels that were proposed
_BREAK = 600.0  # seconds: a longer gap between two answers is a pause, not work

_IN_A_ROW = 20  # the last gold labels, which are held against all of an expert's
_SIGMAS = 3.0  # distance of the lower control limit from an expert's own mean (Shewhart's p-chart)


@dataclass(frozen=True)
class Control:
    """An expert's answers to gold questions."""

    questions: int = 0  # number of gold questions answered
    gold: int = 0  # number of labels given to them
    right: int = 0
    interval: Interval | None = None  # 95 % of the share that is right; labels of one question are a cluster
    latest: float | None = None  # share of right ones among the last gold labels; None for few
    limit: float = 0.0  # lower control limit of that share


def gold_questions(path: Path | None, documents: Sequence[str] = ("",)) -> list[adjudication.Reviewed]:
    """Return the labelled questions of a file, see ``read_labelled``, under names like those of other questions."""
    gold = []
    for item in adjudication.merge_reviewed(read_labelled(path)) if path is not None else ():
        name = identity.sha256("gold", item.question.content_hash)
        number, document = int(name[8:12], 16) % 1000, documents[int(name[12:16], 16) % len(documents)]
        place = {"question_id": f"{name[:8]}-1-{number:05}", "document": document, "number": number}
        gold.append(replace(item, question=item.question.model_copy(update=place)))
    return gold


def proposals(gold: Sequence[adjudication.Reviewed]) -> list[annotations.Annotation]:
    """Return labels to fill in for gold questions: the lexicon's, as nobody is paid to label them again."""
    return lexicon_annotator.LexiconAnnotator().annotations([item.question for item in gold])


def mix_in_gold(questions: Sequence[Question], gold: Sequence[adjudication.Reviewed]) -> list[Question]:
    """Return questions with the gold ones spread evenly among them."""
    mixed = list(questions)
    step = len(mixed) / (len(gold) + 1)
    for place, item in reversed(list(enumerate(gold, start=1))):
        mixed.insert(round(place * step), item.question)
    return mixed


def separate(reviews: pl.DataFrame, gold: Iterable[adjudication.Reviewed]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the reviews that count, and the answers to gold questions, each with whether it is right."""
    known = pl.DataFrame(
        [(item.question.question_id, name, label.zh) for item in gold for name, label in item.labels.items()],
        {"question_id": pl.String, "dimension": pl.String, "known": pl.String},
        orient="row",
    )
    columns = ("updated_at", "question_id", "dimension", "reviewer")
    answers = reviews.join(known, on=["question_id", "dimension"])
    counted = reviews.join(known, on="question_id", how="anti", maintain_order="left")
    return counted, answers.select(*columns, right=pl.col("label") == pl.col("known")).sort(columns)


def controls(answers: pl.DataFrame) -> Mapping[str, Control]:
    """Return how each expert answered gold questions."""
    found = {}
    for (who, *_), rows in answers.group_by("reviewer", maintain_order=True):
        right = rows["right"].to_list()
        mean = sum(right) / len(right)
        units = (Unit(name, float(is_right)) for name, is_right in rows.select("question_id", "right").rows())
        found[str(who)] = Control(
            questions=rows["question_id"].n_unique(),
            gold=len(right),
            right=sum(right),
            interval=interval_of_share(units),
            latest=sum(right[-_IN_A_ROW:]) / _IN_A_ROW if len(right) >= 2 * _IN_A_ROW else None,
            limit=mean - _SIGMAS * sqrt(mean * (1 - mean) / _IN_A_ROW),
        )
    return found


@dataclass(frozen=True)
class ExpertWork:
    """Work of one expert, for whoever coordinates and pays; shares are null where unknown."""

    reviewer: str
    questions: int  # questions reviewed
    left: int  # questions that wait: those assigned, or the open ones, shared where more than two work
    seconds: float | None  # median time a question, as the screen measured it; null in workbooks
    hours: float | None  # time that the screen measured, in all; pauses beyond ten minutes count ten minutes
    quick: float | None  # share of the measured questions answered faster than one can read
    accepted: float | None  # share of the labels filled in that were left as they were
    agreed: float | None  # share of the labels on which another expert's was the same
    first: str
    last: str
    control: Control = field(default_factory=Control)

    def alarms(self) -> list[str]:
        """Return what somebody should look at, in words."""
        warnings = []
        if self.questions >= ENOUGH and (self.quick or 0.0) > _MOST_QUICK:
            warnings.append(f"{self.quick:.0%} answered in under {QUICK:.0f} s")
        if self.questions >= ENOUGH and (self.accepted or 0.0) > _MOST_ACCEPTED:
            warnings.append(f"{self.accepted:.1%} of the labels filled in were left as they were")
        control = self.control
        if control.latest is not None and control.latest < control.limit:
            warnings.append(f"{control.latest:.0%} of the last gold labels are right; the limit is {control.limit:.0%}")
        return warnings


def expert_work(
    question_ids: Sequence[str],
    reviews: Sequence[annotations.ExpertReview],
    rules: adjudication.Rules,
    assigned: Mapping[str, Set[str]] | None = None,
    controls: Mapping[str, Control] | None = None,
    experts: int = 2,
) -> list[ExpertWork]:
    """Return each expert's work by name, adjudicators apart; ``assigned`` are the questions that wait for each."""
    rows = annotations.ExpertReview.to_frame(review for review in reviews if not rules.rules(review))
    mine = rows.filter(pl.col("question_id").is_in(list(question_ids))).sort("reviewer", maintain_order=True)
    pairs = mine.join(mine, on=["question_id", "dimension"], suffix="_other")
    pairs = pairs.filter(pl.col("reviewer") != pl.col("reviewer_other"))
    filled = mine.filter(pl.col("origin").is_in(_FILLED_IN) & ~pl.col("blind").fill_null(value=False))
    agreed = _share(pairs, pl.col("label") == pl.col("label_other"))
    accepted = _share(filled, pl.col("origin") == "prediction")
    left = {who: len(questions) for who, questions in (assigned or {}).items()} or _shared(question_ids, mine, experts)
    answers = mine.group_by("reviewer", "question_id", maintain_order=True).agg(
        pl.col("seconds").last(), first=pl.col("updated_at").min(), last=pl.col("updated_at").max()
    )
    time = pl.col("seconds")
    work = answers.group_by("reviewer", maintain_order=True).agg(
        pl.col("first").min(),
        pl.col("last").max(),
        questions=pl.len(),
        seconds=time.median(),
        hours=time.clip(upper_bound=_BREAK).mean() * time.count() / 3600,  # null without any, as a sum is not
        quick=(time < QUICK).mean(),
    )
    return [
        ExpertWork(
            **row,
            left=left.get(row["reviewer"], 0),
            accepted=accepted.get(row["reviewer"]),
            agreed=agreed.get(row["reviewer"]),
            control=(controls or {}).get(row["reviewer"], Control()),
        )
        for row in work.iter_rows(named=True)
    ]


def _shared(question_ids: Sequence[str], answers: pl.DataFrame, experts: int) -> dict[str, int]:
    """Return how many questions wait for each expert where everybody may answer every question."""
    done = answers.group_by("question_id").agg(pl.col("reviewer").unique())
    judged = dict.fromkeys(question_ids, ()) | dict(done.iter_rows())
    people = answers["reviewer"].unique().to_list()
    wanted = sum(max(0, experts - len(who)) for who in judged.values())
    share = ceil(wanted / len(people)) if len(people) > experts else wanted
    lacking = [who for who in judged.values() if len(who) < experts]
    return {expert: min(share, sum(expert not in who for who in lacking)) for expert in people}


def _share(rows: pl.DataFrame, condition: pl.Expr) -> dict[str, float]:
    """Return the share of each expert's rows that meet a condition; experts without rows are left out."""
    return dict(rows.group_by("reviewer").agg(condition.mean()).iter_rows())


class Assigned(NamedTuple):
    """Assignment of questions to experts."""

    questions: Mapping[str, Set[str]]  # of each expert, the questions that wait for their answer
    unassigned: int  # answers for which nobody is left: quotas are full, or there are too few experts


def single_reviewed(groups: Mapping[str, str], overlap: float) -> set[str]:
    """Return the questions that one expert reviews, not two; questions of a group are drawn together."""
    return {question_id for question_id, group in groups.items() if identity.stable_random("overlap", group) >= overlap}


def groups_of(questions: pl.DataFrame) -> dict[str, str]:
    """Return the group of each question: its own id where it belongs to none."""
    return dict(questions.select("question_id", pl.coalesce("group_id", "question_id")).iter_rows())


def assign(groups: Mapping[str, str], params: ReviewParams, answered: Mapping[str, Set[str]]) -> Assigned:
    """Assign every answer that is still wanted to an expert.

    Each group ranks the experts by a hash and takes the first ones who have room (consistent hashing with bounded
    loads: Mirrokni et al. 2018). So the result hardly depends on history, and when somebody stops only their open
    questions, and few others, change hands. A quota of 0 gives an expert no more questions; what they did counts.
    """
    single = single_reviewed(groups, params.overlap)
    experts = {name: 1 if name in single else params.experts for name in groups}
    wanted = {name: max(0, count - len(answered.get(name, ()))) for name, count in experts.items()}
    load = {who: sum(who in people for people in answered.values()) for who in params.reviewers}
    free = len(params.reviewers) - len(params.quotas)
    rest = sum(wanted.values()) + sum(load.values()) - sum(params.quotas.values())
    share = max(0, ceil(rest / free)) if free else 0  # an even share of what the quotas leave
    room = {who: params.quotas.get(who, share) for who in params.reviewers}
    mine: dict[str, set[str]] = {who: set() for who in params.reviewers}
    order = sorted(groups, key=lambda name: (identity.sha256(groups[name]), name))
    for limits in (room, {who: params.quotas.get(who, inf) for who in params.reviewers}):
        for name in order:
            by_hash = partial(identity.sha256, "assign", groups[name])
            for who in sorted(params.reviewers, key=by_hash) if wanted[name] else ():
                free = name not in mine[who] and who not in answered.get(name, ())
                if wanted[name] and free and load[who] < limits[who]:
                    mine[who].add(name)
                    load[who] += 1
                    wanted[name] -= 1
    return Assigned(mine, sum(wanted.values()))


def assignment(tables: Mapping[str, pl.DataFrame], params: ReviewParams) -> Assigned:
    """Return the assignment of a dataset's questions, as of the last pull."""
    return assign(groups_of(tables["questions"]), params, answered_by(tables["pulled"], params))


def answered_by(reviews: pl.DataFrame, params: ReviewParams) -> dict[str, set[str]]:
    """Return who has answered each question, without rulings and without people whose reviews do not count."""
    reviewers = reviews.filter(pl.col("project") == "review").group_by("question_id").agg("reviewer")
    return {question_id: set(filter(params.invites, people)) for question_id, people in reviewers.iter_rows()}
