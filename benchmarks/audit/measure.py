"""Plants wrong keys and counts how many the audit finds; see README.md."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from build_dataset.pipeline.audit.answers import Answers
from build_dataset.pipeline.audit.params import AuditParams
from build_dataset.pipeline.audit.stage import audit
from build_dataset.pipeline.claims.explanations import read_explanation
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

SHARE = 0.02
Planted = dict[str, str]
"""The wrong key by question."""
Scores = np.ndarray
"""Suspicion of each question, in the order of the questions."""


@dataclass
class Material:
    """Questions with what models answered."""

    questions: list[Question]
    answers: Answers


def question(name: str, stem: str, options: dict[str, str], key: str, explanation: str | None = None) -> Question:
    return Question(
        question_id=name,
        document="benchmark",
        section=None,
        number=None,
        question_type=QuestionType.X if len(key) > 1 else QuestionType.A1,
        stem=stem,
        options=[Option(label=label, text=text) for label, text in options.items()],
        answer=list(key),
        explanation=explanation,
        content_hash=content_hash(stem, options.values()),
    )


def cmexam(path: Path) -> Material:
    """CMExam's questions that have an explanation and one answer."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        options = dict(re.findall(r"(?m)^([A-Z])\s+(.*)$", row["Options"]))
        said = row["Explanation"]
        if said and said != "nan" and row["Answer"] in options:
            found.append(question(f"q{row['row']:05}", row["Question"], options, row["Answer"], said))
    return Material(found, {})


def cnmleqa(path: Path) -> Material:
    """Questions of the physicians' examination with the letters that models answered."""
    found, answers = [], {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        options = {letter.upper(): row[f"op{letter}"] for letter in "abcde" if row.get(f"op{letter}")}
        found.append(question(row["id"], row["question"], options, row["answer"][-1].upper()))
        models = [name for name, said in row.items() if isinstance(said, str) and re.fullmatch("[A-E]", said)]
        answers[row["id"]] = {name: frozenset(row[name]) for name in models}
    return Material(found, answers)


def simulated(respondents: int, seed: int, items: int = 2000) -> Material:
    """Answers by the two-parameter model; those who miss an item prefer its most attractive distractor."""
    draw = np.random.default_rng(seed)
    abilities = draw.normal(1, 1, respondents)
    slopes, levels = np.exp(draw.normal(0, 0.4, items)), draw.normal(0, 1.5, items)
    pulls = draw.dirichlet([0.7] * 4, items)
    right = draw.random((items, respondents)) < 1 / (1 + np.exp(-slopes[:, None] * (abilities - levels[:, None])))
    found, answers = [], {}
    for at in range(items):
        name = f"s{at:05}"
        found.append(question(name, name, {letter: f"{name} {letter}" for letter in "ABCDE"}, "A"))
        wrong = draw.choice(list("BCDE"), respondents, p=pulls[at])
        answers[name] = {
            f"r{who:03}": frozenset("A" if right[at, who] else str(wrong[who])) for who in range(respondents)
        }
    return Material(found, answers)


def planted(material: Material, seed: int) -> tuple[Material, Planted]:
    """The same with 2 % of the keys wrong: a distractor that some model chose, else any."""
    draw = np.random.default_rng(seed)
    chosen = draw.choice(len(material.questions), ceil(SHARE * len(material.questions)), replace=False)
    wrong: Planted = {}
    for at in sorted(chosen.tolist()):
        row = material.questions[at]
        others = [option.label for option in row.options if option.label not in (row.answer or ())]
        said = {letter for letters in material.answers.get(row.question_id, {}).values() for letter in letters}
        wrong[row.question_id] = str(draw.choice([letter for letter in others if letter in said] or others))
    changed = [
        row.model_copy(update={"answer": [wrong[row.question_id]]}) if row.question_id in wrong else row
        for row in material.questions
    ]
    return Material(changed, material.answers), wrong


def ours(material: Material) -> Scores:
    found = audit(Question.to_frame(material.questions), material.answers, AuditParams())
    odds = {case.question.question_id: case.odds for case in found.cases}
    return np.array([odds[row.question_id] for row in material.questions])


def lowest_accuracy(material: Material) -> Scores:
    """The questions that most models miss first."""
    share = [
        np.mean([letters == frozenset(row.answer or ()) for letters in said.values()] or [1.0])
        for row in material.questions
        for said in [material.answers.get(row.question_id, {})]
    ]
    return -np.array(share)


def vote(material: Material) -> Scores:
    """A vote weighted by each model's log-odds of agreeing with the keys."""
    total: dict[str, list[bool]] = {}
    for row in material.questions:
        for name, letters in material.answers[row.question_id].items():
            total.setdefault(name, []).append(letters == frozenset(row.answer or ()))
    weights = {name: np.log(4 * np.mean(s) / (1 - np.mean(s))) for name, s in total.items()}
    scores = []
    for row in material.questions:
        votes: dict[frozenset[str], float] = {}
        for name, letters in material.answers[row.question_id].items():
            votes[letters] = votes.get(letters, 0.0) + weights[name]
        key = votes.pop(frozenset(row.answer or ()), 0.0)
        scores.append(max(votes.values(), default=0.0) - key)
    return np.array(scores)


def cleanlab_votes(material: Material) -> Scores:
    """Cleanlab on the share of models that gave each letter."""
    from cleanlab.rank import get_label_quality_scores

    letters = "ABCDE"
    shares = np.full((len(material.questions), len(letters)), 0.01)
    for at, row in enumerate(material.questions):
        for said in material.answers[row.question_id].values():
            shares[at, letters.index(min(said))] += 1
    return _by_quality(material, shares / shares.sum(1, keepdims=True), get_label_quality_scores)


def cleanlab_text(material: Material) -> Scores:
    """Cleanlab on a classifier of options as keys by what the explanation says of them, out of fold."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    rows = [(at, option) for at, row in enumerate(material.questions) for option in row.options]
    features = np.array([_overlap(material.questions[at], option) for at, option in rows])
    keys = np.array([option.label in (material.questions[at].answer or ()) for at, option in rows])
    groups = [at for at, _ in rows]
    model = LogisticRegression(max_iter=1000, class_weight="balanced")
    chances = cross_val_predict(model, features, keys, groups=groups, cv=GroupKFold(5), method="predict_proba")[:, 1]
    shares = np.full((len(material.questions), 5), 1e-3)
    for (at, option), chance in zip(rows, chances, strict=True):
        shares[at, "ABCDE".index(option.label)] = chance
    return _by_quality(material, shares / shares.sum(1, keepdims=True), get_label_quality_scores)


def _overlap(row: Question, option: Option) -> list[float]:
    said = row.explanation or ""
    pairs = {option.text[at : at + 2] for at in range(len(option.text) - 1)} or {option.text}
    shared = sum(pair in said for pair in pairs) / len(pairs)
    judged = re.findall(rf"[（(][^（()）]*{option.label}[A-Z]*([对错])", said)
    return [
        shared, float(option.text in said), said.count(option.label), float("对" in judged), float("错" in judged),
        float(bool(re.search(rf"(?:选|答案)\W*{option.label}", said))),
    ]  # fmt: skip


def _by_quality(material: Material, shares: np.ndarray, quality: Callable[..., np.ndarray]) -> Scores:
    labels = np.array(["ABCDE".index((row.answer or ["A"])[0]) for row in material.questions])
    return -quality(labels, shares)


def met(scores: Scores, wrong: np.ndarray, most: int) -> float:
    """Planted keys among the ``most`` suspicious questions: the mean over all orders of those that are equal."""
    scores = scores.round(6)
    last = np.sort(scores)[-most]
    over, level = scores > last, scores == last
    return float(wrong[over].sum() + (most - over.sum()) * wrong[level].mean())


def measured(name: str, material: Material, ways: dict[str, Callable[[Material], Scores]], seeds: int) -> None:
    """Print a row a way: planted keys in the first 1 % and in the first 5 %, mean over seeds with 95 % intervals.

    The last row is the mean of the paired differences of the audit and the vote.
    """
    count = len(material.questions)
    first, budget, total = int(0.01 * count), round(0.05 * count), ceil(SHARE * count)
    print(f"\n{name}: {count:,} questions, {total} planted, {seeds} draws\n")
    print(f"| | planted in the first {first} | precision | in the first {budget} | recall |\n|---|---:|---:|---:|---:|")
    draws = [planted(material, seed) for seed in range(seeds)]
    found = {}
    for way, rating in ways.items():
        rated = [
            (rating(changed), np.array([row.question_id in wrong for row in material.questions]))
            for changed, wrong in draws
        ]
        found[way] = np.array([[met(*each, most) for most in (first, budget)] for each in rated])
        (one, half_one), (five, half_five) = map(_interval, found[way].T)
        cells = f"{one:.2f} ± {half_one:.2f} | {one / first:.2f} | {five:.2f} ± {half_five:.2f} | {five / total:.2f}"
        print(f"| {way} | {cells} |", flush=True)
    if "vote" in found:
        (one, half_one), (five, half_five) = map(_interval, (found["audit"] - found["vote"]).T)
        print(f"| audit - vote | {one:+.2f} ± {half_one:.2f} | | {five:+.2f} ± {half_five:.2f} | |", flush=True)


def _interval(values: np.ndarray) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(values.mean()), float(half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmexam", type=Path, help="val_dev.jsonl, or another file of its form")
    parser.add_argument("--models", type=Path, help="cnmleqa_models_dev.json, or another file of its form")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--top", type=int, default=0, help="list so many of the most suspicious, nothing planted")
    parser.add_argument("--reader", action="store_true", help="measure the reader of explanations alone")
    args = parser.parse_args()
    if args.cmexam and args.reader:
        reader(cmexam(args.cmexam))
        return
    by_answers = {"lowest accuracy first": lowest_accuracy, "Cleanlab": cleanlab_votes, "vote": vote, "audit": ours}
    for path, read, ways in (
        (args.cmexam, cmexam, {"Cleanlab": cleanlab_text, "audit": ours}),
        (args.models, cnmleqa, by_answers),
    ):
        if path and args.top:
            _list(read(path), args.top)
        elif path:
            measured(path.name, read(path), ways, args.seeds)
    if not args.top:
        for respondents in (8, 30, 100):
            measured(f"simulated, {respondents} respondents", simulated(respondents, 7), by_answers, min(args.seeds, 5))


def reader(material: Material) -> None:
    """Print how many printed keys, and how many replaced ones, explanations speak against, by rule."""
    draw = np.random.default_rng(0)
    found: dict[str, list[int]] = {}
    for row in material.questions:
        options = {option.label: option.text for option in row.options}
        wrong = str(draw.choice([label for label in options if label not in (row.answer or ())]))
        said = read_explanation(row.explanation, row.stem, options, several=False)
        if said is not None and said.answer is not None:
            counts = found.setdefault(said.rule, [0, 0])
            counts[0] += said.answer != frozenset(row.answer or ())
            counts[1] += said.answer != {wrong}
    print(f"| rule | printed keys spoken against, of {len(material.questions):,} | replaced keys |\n|---|---:|---:|")
    for rule, (printed, replaced) in sorted(found.items()):
        print(f"| {rule} | {printed} | {replaced} |")


def _list(material: Material, top: int) -> None:
    found = audit(Question.to_frame(material.questions), material.answers, AuditParams())
    for at, case in enumerate(found.cases[:top], start=1):
        row = case.question
        options = " ".join(f"{option.label}.{option.text}" for option in row.options)
        said = "; ".join(f"{e.kind} {e.source[:60]}: {e.detail}" for e in case.evidence)
        suggested = "".join(sorted(case.suggested or "?"))
        print(
            f"{at}. {case.suspicion:.3f} key {''.join(sorted(case.key))} suggested {suggested} | {row.stem} | {options}"
        )
        print(f"   {said}\n   {(row.explanation or '')[:600]}")


if __name__ == "__main__":
    main()
