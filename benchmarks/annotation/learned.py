"""The offline annotators on experts' labels: accuracy by number of reviewed questions, beside the commonest label.

``python -m benchmarks.annotation.learned LABELLED.jsonl [--draws 8] [--counts 100,300]``: a file of labelled
questions, CMExam's columns or ours. Each draw learns from some and is tested on all others. The first of a file may be
of one exam (CMExam's are dentistry): what was learned from them is tested on the others, too.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from build_dataset.annotation.adjudication import Reviewed
from build_dataset.annotation.annotator import Annotator
from build_dataset.annotation.learned_annotator import LearnedAnnotator
from build_dataset.annotation.lexicon_annotator import LexiconAnnotator, scored_dimensions, shares_of
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.pipeline.stats import wilson

FIRST = 300
BARE = {"options": [], "answer": None, "explanation": None}


def accuracies(annotator: Annotator, test: list[Reviewed]) -> tuple[list[float], ...]:
    """By dimension, of questions that it labels: accuracy, distance of mean confidence from it, macro F1; their share.

    The distance is over ten bins, macro F1 over the labels that are there.
    """
    found = [item.verdicts for item in annotator.annotate([item.question for item in test], lambda _: None)]
    accuracy, error, macro, coverage = [], [], [], []
    for name in scored_dimensions():
        said = [(v[name], item.labels[name]) for v, item in zip(found, test, strict=True) if name in v]
        right = np.array([verdict.label == label for verdict, label in said])
        sure = np.array([verdict.confidence for verdict, _ in said])
        bins = np.minimum((sure * 10).astype(int), 9)
        gaps = [abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
        accuracy.append(right.mean())
        error.append(sum(gaps))
        true, read = [label.zh for _, label in said], [verdict.label.zh for verdict, _ in said]
        macro.append(f1_score(true, read, labels=sorted(set(true)), average="macro", zero_division=0))
        coverage.append(len(said) / len(test))
    return accuracy, error, macro, coverage


def of_all(test: list[Reviewed]) -> list[float]:
    """Return the lexicon's accuracy by dimension, were every question given the label with the largest share."""
    shares = list(shares_of([item.question for item in test]))
    right = [
        [max(one[name], key=one[name].get) == item.labels[name].zh for name in scored_dimensions()]
        for one, item in zip(shares, test, strict=True)
    ]
    return list(np.mean(right, axis=0))


def show(name: str, values: list, seconds: float | None = None) -> None:
    took = f"{seconds:8.1f} s" if seconds is not None else ""
    print(f"{name:34}" + "".join(f"{value:8.3f}" for value in values) + took)


def learned(items: list[Reviewed], count: int, draws: int) -> None:
    """Learn from ``count`` questions drawn at random, label all others."""
    results, seconds = [], []
    for draw in range(draws):
        shuffled = [items[place] for place in np.random.default_rng(draw).permutation(len(items))]
        clock = time.process_time()
        results.append(accuracies(LearnedAnnotator(shuffled[:count]), shuffled[count:]))
        seconds.append(time.process_time() - clock)
    accuracy, error, macro = (np.array([result[part] for result in results]) for part in range(3))
    name = f"learned from {count}"
    show(f"{name}, mean", list(accuracy.mean(axis=0)), float(np.mean(seconds)))
    show(f"{name}, macro F1", list(macro.mean(axis=0)))
    show(f"{name}, worst draw", list(accuracy.min(axis=0)))
    show(f"{name}, calibration err", list(error.mean(axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labelled", type=Path)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--counts", default="50,100,200,300,700")
    given = parser.parse_args()
    items = read_labelled(given.labelled)
    print(f"{'':34}" + "".join(f"{name[:7]:>8}" for name in scored_dimensions()))
    show("commonest label", [_commonest(items, name) for name in scored_dimensions()])
    right, _, macro, coverage = accuracies(LexiconAnnotator(), items)
    show("lexicon, of those it labels", right)
    show("lexicon, macro F1", macro)
    show("lexicon, labelled", coverage)
    show("lexicon, were all labelled", of_all(items))
    sizes = [round(share * len(items)) for share in coverage]
    intervals = [wilson(round(share * size), size) for share, size in zip(right, sizes, strict=True)]
    show("lexicon, low end of 95 %", [low for low, _ in intervals])
    show("lexicon, high end of 95 %", [high for _, high in intervals])
    bare = [Reviewed(item.question.model_copy(update=BARE), item.labels) for item in items]
    show("stems alone, were all labelled", of_all(bare))
    for count in map(int, given.counts.split(",")):
        if count < len(items):
            learned(items, count, given.draws)
    if len(items) > FIRST:
        show(f"learned from the first {FIRST}", accuracies(LearnedAnnotator(items[:FIRST]), items[FIRST:])[0])
        print("stems alone:")
        learned(bare, FIRST, given.draws)


def _commonest(items: list[Reviewed], name: str) -> float:
    return Counter(item.labels[name].zh for item in items).most_common(1)[0][1] / len(items)


if __name__ == "__main__":
    main()
