"""The dedup stage: questions that are the same merged, twins that only look alike kept, conflicts left to people."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, starmap

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet

from build_dataset.pipeline.dedup.candidates import MOST_ALIKE, OPTIONS, find_candidates, framed, vocabulary_of
from build_dataset.pipeline.dedup.grams import Vocabulary, bigrams
from build_dataset.pipeline.dedup.keys import OPTION_BREAK, Compared, comparable_items, with_keys
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import CONFLICT, SAME, Relation, keys_contradict, relate, translate_keys
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.stage import Context, Counts, Failure, Result, Tables
from build_dataset.schemas.questions import Cluster, Merge, Question, ReviewItem

Edge = tuple[int, int, str]  # two rows and the kind of their relation
_Task = tuple[list[tuple[int, int]], dict[int, Compared], Vocabulary, DedupParams]
"""Pairs to compare, with all that a worker process needs for it."""
_MANY = 10_000  # fewer pairs are compared here in the time that worker processes take to start
_TOGETHER = 1_000  # pairs that a worker compares at a time


@dataclass
class Resolution:
    """The fate of the rows; those not named survive without relatives."""

    merges: list[tuple[int, int, str, float, str]] = field(default_factory=list)
    """(row, survivor's row, kind, score, reason)."""
    conflicts: list[list[int]] = field(default_factory=list)
    """Rows that are one question with different answers, the best copy first."""
    edges: list[Edge] = field(default_factory=list)  # all related pairs, for clusters
    left_out: int = 0  # candidate pairs of crowds that were not compared


class Resolver:
    """Compares pairs and decides. The outcome does not depend on the order of pairs or rows."""

    def __init__(
        self, items: dict[int, Compared], ranks: Sequence[int], vocabulary: Vocabulary, params: DedupParams
    ) -> None:
        """Take the rows concerned and how good a copy each is."""
        self._items, self._ranks = items, ranks
        self._vocabulary, self._params = vocabulary, params
        self._contradictions: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], Relation | None] = {}

    def compare(self, pairs: NDArray[np.int64], context: Context) -> None:
        """Compare many pairs before they are settled, in worker processes; a failed task is done here when asked."""
        ordered = [self._worse_first(*pair) for pair in pairs.tolist()]
        parts = (ordered[start : start + _TOGETHER] for start in range(0, len(ordered), _TOGETHER))
        for task, relations in context.map(_relations, map(self._task, parts)):
            if not isinstance(relations, Failure):
                self._known.update(zip(task[0], relations, strict=True))

    def _task(self, pairs: list[tuple[int, int]]) -> _Task:
        items = {row: self._items[row] for pair in pairs for row in pair}
        texts = [text for item in items.values() for text in (item.key, item.core, *item.options)]
        framing = [f"{OPTION_BREAK}{text}{OPTION_BREAK}" for text in dict.fromkeys(texts)]
        return pairs, items, self._vocabulary.of(framing), self._params

    def resolve(self, pairs: Iterable[tuple[int, int]], resolution: Resolution) -> Resolution:
        """Settle all ``pairs``, the most alike first, and add what becomes of them to the ``resolution``."""
        same = DisjointSet(self._items)
        best: dict[int, int] = {}
        for pair in pairs:
            # By the best copies of either side: each is compared with one or two, not with all others.
            one, other = (best.get(same[row], row) for row in pair)
            if one == other or (relation := self._relation(one, other)) is None:  # settled by others already
                continue
            resolution.edges.append((one, other, relation.kind))
            if relation.kind == CONFLICT:
                self._contradictions.setdefault(one, []).append(other)
            if relation.kind in SAME:
                same.merge(one, other)
                best[same[one]] = min(one, other, key=self._ranks.__getitem__)  # speaks for both from here on
        for rows in same.subsets():
            if len(rows) > 1:
                self._settle(rows, resolution)
        return resolution

    def _relation(self, one: int, other: int) -> Relation | None:
        """Return the relation of the worse copy to the better, whatever the order of the arguments."""
        worse, better = self._worse_first(one, other)
        if (worse, better) not in self._known:
            self._known[worse, better] = relate(self._items[worse], self._items[better], self._vocabulary, self._params)
        return self._known[worse, better]

    def _worse_first(self, one: int, other: int) -> tuple[int, int]:
        return (one, other) if self._ranks[one] > self._ranks[other] else (other, one)

    def _settle(self, rows: set[int], resolution: Resolution) -> None:
        """Merge each row into the best copy that it was compared with itself: sameness is not transitive."""
        followers: dict[int, dict[int, Relation]] = {}
        for row in sorted(rows, key=self._ranks.__getitem__):
            related = [(leader, self._relation(row, leader)) for leader in followers]
            same = [(leader, relation) for leader, relation in related if relation and relation.kind in SAME]
            if same:
                leader, relation = max(same, key=lambda pair: (pair[1].kind == "exact", pair[1].score))
                followers[leader][row] = relation
            else:
                followers[row] = {}  # a question of its own
        disputed = self._disputed(followers)
        resolution.conflicts += disputed
        waiting = {row for rows in disputed for row in rows}
        for leader, copies in followers.items():
            resolution.edges += [(row, leader, relation.kind) for row, relation in copies.items()]
            if leader not in waiting:
                resolution.merges += [(row, leader, how.kind, how.score, how.reason) for row, how in copies.items()]

    def _disputed(self, followers: dict[int, dict[int, Relation]]) -> list[list[int]]:
        """Leaders with their copies whose answers contradict each other, the best first."""
        leader_of = {row: leader for leader, copies in followers.items() for row in (leader, *copies)}
        groups, disputed = DisjointSet(followers), set[int]()
        for leader, copies in followers.items():
            keys = [translate_keys(self._items[row].keys, how.labels) for row, how in copies.items()]
            if any(starmap(keys_contradict, combinations(dict.fromkeys([self._items[leader].keys, *keys]), 2))):
                disputed.add(leader)  # its own copies contradict each other
        # Copies that answer differently can stand under two leaders, worded like other questions. Both then wait.
        for row, leader in leader_of.items():
            for other in self._contradictions.get(row, ()):
                groups.merge(leader, leader_of[other])
                disputed.add(leader)
        found = (leaders for leaders in groups.subsets() if not disputed.isdisjoint(leaders))
        rows = ((row for leader in leaders for row in (leader, *followers[leader])) for leaders in found)
        return [sorted(own, key=self._ranks.__getitem__) for own in rows]


def _relations(task: _Task) -> list[Relation | None]:
    """Compare the pairs of a task, in a worker process."""
    pairs, items, vocabulary, params = task
    return [relate(items[worse], items[better], vocabulary, params) for worse, better in pairs]


KINDS = ("negation", "number", "unit", "sex", "age", "term", "variant", "group", "survivor")
"""Reasons for a question to belong to its cluster, the most telling first: the kind of its relation to another member;
``group`` when only its shared stem or options tie it; ``survivor`` when it stands for copies merged into it."""


def clusters(ids: list[str], groups: Sequence[str | None], gone: Iterable[int], edges: Iterable[Edge]) -> pl.DataFrame:
    """The ``Cluster`` table: a row for every survivor that has a relative, none for the others, by question id.

    Rows that are ``gone``, merged or waiting, tie their relatives and have no row; a cluster may have their name.
    """
    kinds: dict[int, str] = {}  # the most telling kind of each row's relations
    for *pair, kind in (edges := list(edges)):
        shown = "survivor" if kind in SAME else kind
        for row in pair:
            kinds[row] = min(kinds.get(row, shown), shown, key=KINDS.index)
    # A group of which a member has relatives stays together, so that merging one member leaves none behind.
    touched = {groups[row] for row in kinds} - {None}
    first: dict[str | None, int] = {}
    same = [(first.setdefault(group, row), row) for row, group in enumerate(groups) if group in touched]
    sets = DisjointSet([*kinds, *(row for _, row in same)])
    for one, other, *_ in (*edges, *same):
        sets.merge(one, other)
    missing = set(gone)  # merged, or waiting for a person
    named = ((row, ids[min(members)]) for members in sets.subsets() for row in members - missing)
    rows = sorted((ids[row], name, kinds.get(row, "group")) for row, name in named)
    return pl.DataFrame(rows, schema=Cluster.polars_schema(), orient="row")


def run(tables: Tables, params: DedupParams, context: Context) -> Result:
    """Merge what is the same, cluster what is related, let all copies that contradict each other wait for a person."""
    questions = tables.get("proofread/questions", tables["questions"])
    if not questions["question_id"].is_sorted():
        questions = questions.sort("question_id")
    resolution = resolve(questions, params, context)
    ids = questions["question_id"].to_list()
    merged_rows = [(ids[row], ids[leader], *how) for row, leader, *how in resolution.merges]
    merges = pl.DataFrame(merged_rows, Merge.polars_schema(), orient="row").sort("question_id")
    merged = [row for row, *_ in resolution.merges]
    waiting = [row for rows in resolution.conflicts for row in rows]
    gone = sorted([*merged, *waiting])
    groups = questions.select(pl.concat_str("document", "group_id", separator="\x1f"))["document"].to_list()
    related = clusters(ids, groups, gone, resolution.edges)
    kept = questions.with_row_index("row").filter(~pl.col("row").is_in(gone)).drop("row")
    return Result(
        tables={"questions": kept, "merges": merges, "clusters": related},
        counts=Counts(questions.height, kept.height, merged=len(merged), waiting=len(waiting)),
        review=[_conflict(questions, rows) for rows in sorted(resolution.conflicts)],
        notes=notes("build_dataset.pipeline.dedup", most=MOST_ALIKE, **vars(resolution)),
        facts={
            "merges": dict(sorted(Counter(merges["kind"]).items())),
            "clusters": related["cluster_id"].n_unique(),
            "conflicts": len(resolution.conflicts),
        },
    )


def resolve(questions: pl.DataFrame, params: DedupParams, context: Context) -> Resolution:
    """Find and settle all related pairs."""
    if questions.is_empty():
        return Resolution()
    keys = with_keys(questions)
    pairs, left_out = find_candidates(keys, context.seed)
    vocabulary = vocabulary_of(questions, keys)
    rarities = [vocabulary.rarities(bigrams(part)) for part in framed(keys, "key", OPTIONS)]  # misread places
    order = copy_ranks(questions, np.concatenate(rarities))
    resolution = Resolution(left_out=left_out)
    if not len(pairs):
        return resolution
    resolver = Resolver(comparable_items(questions, keys, np.unique(pairs).tolist()), order, vocabulary, params)
    if len(pairs) > _MANY:
        resolver.compare(pairs, context)
    return resolver.resolve(map(tuple, pairs.tolist()), resolution)


def copy_ranks(questions: pl.DataFrame, rarities: NDArray[np.int64]) -> list[int]:
    """Rank the rows by how good a copy each is, 0 the best.

    With a key before without, one after appeals first; then not read from an image, the longest explanation, a known
    human accuracy, the surest recognition, the fewest bigrams met nowhere else, as of misreadings; by question_id.
    """
    order = questions.select(
        pl.col("answer").is_null(),  # false sorts first: with a key
        accepted=pl.col("accepted_answers").is_null(),
        recognised=pl.col("confidence").is_not_null(),
        explanation=-pl.col("explanation").str.len_chars().fill_null(0).cast(pl.Int64),
        accuracy=pl.col("human_accuracy").is_null(),
        confidence=-pl.col("confidence").fill_null(1.0),
        rarity=pl.Series(rarities),
        question_id="question_id",
    ).with_row_index("row")
    places: list[int] = np.argsort(order.sort(pl.exclude("row"))["row"].to_numpy()).tolist()
    return places


def _conflict(questions: pl.DataFrame, rows: list[int]) -> ReviewItem:
    copies = [Question.model_validate(row) for row in questions[rows].iter_rows(named=True)]
    said = ((copy.question_id, "".join(copy.answer or []) or "nothing", copy.document) for copy in copies)
    answers = "; ".join(f"{name} says {answer} ({document})" for name, answer, document in said)
    return ReviewItem(
        item_id=copies[0].question_id,
        question_ids=[copy.question_id for copy in copies],
        stage="dedup",
        reason="conflicting_answers",
        detail=f"one question, different answers: {answers}",
        item="[" + ",".join(copy.model_dump_json(exclude_none=True) for copy in copies) + "]",
    )
